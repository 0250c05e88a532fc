//! A page that stands alone: it may use its own styles and scripts by their digests, and nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

/// The style of every page.
pub(crate) const STYLE: &str = include_str!("../assets/report.css");

/// A page with these styles and no network. `scripts` are those that its body has, each as it stands between its tags.
pub(crate) fn document(title: &str, styles: &[&str], scripts: &[&str], body: &Markup) -> String {
    let policy = policy(styles, scripts);
    with_head(title, styles, &policy, &html! {}, body)
}

/// A page whose script asks its server for changes. Without scripts it is loaded again after so many seconds.
pub(crate) fn live_document(
    title: &str,
    styles: &[&str],
    script: &str,
    reload: u32,
    body: &Markup,
) -> String {
    let policy = policy(styles, &[script]) + "; connect-src 'self'";
    let reload = html! { noscript { meta http-equiv="refresh" content=(reload); } };
    with_head(title, styles, &policy, &reload, body)
}

fn with_head(title: &str, styles: &[&str], policy: &str, head: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(policy);
                (head)
                link rel="icon" href="data:,";
                title { (title) " · backslide" }
                @for style in styles { style { (PreEscaped(style)) } }
            }
            body { (body) }
        }
    };
    page.into_string()
}

/// The Content-Security-Policy of a page with these `style` and `script` elements, each as it stands between its tags.
/// What a name might bring in is neither run nor obeyed, even where it was not escaped.
fn policy(styles: &[&str], scripts: &[&str]) -> String {
    let mut policy = format!("default-src 'none'; style-src{}", digests(styles));
    if !scripts.is_empty() {
        policy.push_str("; script-src");
        policy.push_str(&digests(scripts));
    }
    policy.push_str("; img-src data:");
    policy
}

fn digests(texts: &[&str]) -> String {
    let of = |text: &&str| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    texts.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification, Content Security Policy Level 2, 4.2.5.
    #[test]
    fn a_digest_is_the_one_of_the_specification() {
        assert_eq!(
            digests(&["alert('Hello, world.');"]),
            " 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
    }
}
