//! Every relative link of a Markdown page leads to a file, and its anchor to a heading.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_link_of_the_pages_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = Vec::new();
    collect(&root, &mut pages);
    assert!(
        pages.iter().any(|page| page.ends_with("docs/README.md")),
        "found {} pages",
        pages.len()
    );
    let dead: Vec<String> = pages.iter().flat_map(|page| dead_links(page)).collect();
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn a_dead_link_and_a_dead_anchor_are_found() {
    let scratch = tempfile::tempdir().unwrap();
    let page = scratch.path().join("page.md");
    let text = "# The `one` page!\n[here](#the-one-page) [web](https://example.com/x) [dead](other.md) [gone](#two)\n\
                ```\n[code](nothing.md)\n```\n";
    fs::write(&page, text).unwrap();
    let dead = dead_links(&page);
    assert_eq!(dead.len(), 2, "{dead:?}");
    assert!(dead[0].ends_with("other.md") && dead[1].ends_with("#two"), "{dead:?}");
}

/// Markdown files below a directory, without build outputs and hidden directories.
fn collect(directory: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(&path, pages);
            }
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
}

fn dead_links(page: &Path) -> Vec<String> {
    let text = outside_of_code(&fs::read_to_string(page).unwrap());
    let mut dead = Vec::new();
    for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        if link.contains("://") || link.contains(' ') {
            continue;
        }
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target =
            if path.is_empty() { page.to_path_buf() } else { page.parent().unwrap().join(path) };
        let leads = target.exists() && (anchor.is_empty() || anchors(&target).contains(anchor));
        if !leads {
            dead.push(format!("{}: {link}", page.display()));
        }
    }
    dead
}

fn outside_of_code(text: &str) -> String {
    let mut code = false;
    let mut outside = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            outside.push_str(line);
            outside.push('\n');
        }
    }
    outside
}

/// The anchors that GitHub gives to headings: lower case, punctuation dropped, blanks as hyphens, repeats numbered.
fn anchors(page: &Path) -> HashSet<String> {
    let mut anchors = HashSet::new();
    let text = outside_of_code(&fs::read_to_string(page).unwrap());
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let plain: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let mut anchor = plain.clone();
        for repeat in 1.. {
            if anchors.insert(anchor) {
                break;
            }
            anchor = format!("{plain}-{repeat}");
        }
    }
    anchors
}
