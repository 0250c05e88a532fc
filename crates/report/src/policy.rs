//! What a page allows a browser to do: its own styles and scripts by their digests, and nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The Content-Security-Policy of a page with these `style` and `script` elements, each as it stands between its tags.
/// What a name might bring in is neither run nor obeyed, even where it was not escaped.
pub(crate) fn policy(styles: &[&str], scripts: &[&str]) -> String {
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
