//! What an archive may not ask for: the names of its entries and where its links lead.

use std::collections::HashMap;

use model::Bytes;

/// The longest name of an entry, and target of a link: what the system allows for a path.
const NAME_LIMIT: usize = 4096;

/// The most links that are followed to find where one leads, as the system has it.
const HOPS: usize = 40;

/// What is wrong with an archive or an entry of it; continues a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    #[error("has an absolute path")]
    Absolute,
    #[error("has `..` in its path")]
    Parent,
    /// Empty, too long, or no text that a path can hold.
    #[error("has no usable name")]
    Name,
    #[error("is a link without a usable target")]
    Target,
    #[error("is a link that leads out, to `{0}`")]
    LinkOut(String),
    #[error("is a hard link to `{0}`, which is not a file")]
    HardLink(String),
    #[error("would be written through the link `{0}`")]
    ThroughLink(String),
    #[error("lies below `{0}`, which is a file")]
    BelowFile(String),
    /// As what it came first, and as what it comes again.
    #[error("comes twice: as a {0} and as a {1}")]
    Replaces(&'static str, &'static str),
    #[error("is a {0}")]
    Special(&'static str),
    #[error("is encrypted")]
    Encrypted,
    #[error("has entries that overlap")]
    Overlap,
    #[error("has two entries of the same name")]
    Twice,
    #[error("has more than {0} entries")]
    Entries(u64),
    #[error("has a header of more than {0}")]
    Header(Bytes),
    #[error("unpacks to more than {0}")]
    Size(Bytes),
    #[error("unpacks to more than {0} times its own size")]
    Ratio(u64),
}

/// A path within the tree: names joined by slashes, without `.` and `..`; empty for the tree itself.
pub(super) type Inner = Vec<u8>;

/// The path that an entry's name stands for.
pub(super) fn inner_path(name: &[u8]) -> Result<Inner, Flaw> {
    if name.first() == Some(&b'/') {
        return Err(Flaw::Absolute);
    }
    if name.is_empty() || name.len() > NAME_LIMIT || name.contains(&0) {
        return Err(Flaw::Name);
    }
    let mut path = Inner::with_capacity(name.len());
    for part in parts(name) {
        if part == b".." {
            return Err(Flaw::Parent);
        }
        push(&mut path, part);
    }
    Ok(path)
}

/// The names in a path, without those that stand for where one is.
fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}

fn push(path: &mut Inner, part: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(part);
}

/// Where a path's parent ends; `None` for something right in the tree.
pub(super) fn parent(path: &[u8]) -> Option<&[u8]> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    path.get(..slash)
}

/// An entry's name as people are shown it.
pub(super) fn shown(name: &[u8]) -> String {
    const SHOWN: usize = 200;
    let text = String::from_utf8_lossy(name.get(..SHOWN).unwrap_or(name));
    let more = if name.len() > SHOWN { "…" } else { "" };
    format!("{}{more}", text.escape_debug())
}

/// What a link leads to, unless no path can be that.
pub(super) fn target(text: &[u8]) -> Result<&[u8], Flaw> {
    if text.is_empty() || text.len() > NAME_LIMIT || text.contains(&0) {
        return Err(Flaw::Target);
    }
    Ok(text)
}

pub(super) type Nodes = HashMap<Inner, Node>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Directory,
    File,
    Link(Link),
}

impl Node {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::Link(_) => "link",
        }
    }
}

/// A symbolic link of an archive, not made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) target: Vec<u8>,
    pub(super) archive: usize,
    /// Does a target that begins with a slash mean the tree's root, as in packages of a distribution?
    pub(super) rooted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    To(Inner),
    /// To nothing, or to itself.
    Nowhere,
    Out,
}

/// Follows the link at `path` as the system would, in a tree whose links need not be made yet.
pub(super) fn follow(nodes: &Nodes, path: &[u8], link: &Link) -> Leads {
    let mut place = parent(path).unwrap_or_default().to_vec();
    // What is still to be walked, the next name last.
    let mut ahead = Vec::new();
    if !enter(link, &mut place, &mut ahead) {
        return Leads::Out;
    }
    let mut hops = 1;
    let mut lost = false;
    while let Some(part) = ahead.pop() {
        if part == b"." {
            continue;
        }
        if part == b".." {
            if place.is_empty() {
                return Leads::Out;
            }
            place.truncate(parent(&place).map_or(0, <[u8]>::len));
            continue;
        }
        let before = place.len();
        push(&mut place, part);
        match nodes.get(&place) {
            Some(Node::Link(next)) => {
                place.truncate(before);
                hops += 1;
                if !enter(next, &mut place, &mut ahead) {
                    return Leads::Out;
                }
                if hops > HOPS {
                    return Leads::Nowhere;
                }
            }
            Some(Node::Directory) => {}
            Some(Node::File) => lost |= !ahead.is_empty(),
            None => lost = true,
        }
    }
    if lost { Leads::Nowhere } else { Leads::To(place) }
}

/// Puts a link's target before what is still ahead. False where it begins outside of the tree.
fn enter<'a>(link: &'a Link, place: &mut Inner, ahead: &mut Vec<&'a [u8]>) -> bool {
    if link.target.first() == Some(&b'/') {
        if !link.rooted {
            return false;
        }
        place.clear();
    }
    let mark = ahead.len();
    // A slash at the end asks for a directory, as a dot does.
    let parts = link.target.split(|byte| *byte == b'/');
    ahead.extend(parts.map(|part| if part.is_empty() { b"." } else { part }));
    if let Some(new) = ahead.get_mut(mark..) {
        new.reverse();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(links: &[(&str, &str)], path: &str) -> Leads {
        let link =
            |target: &str| Link { target: target.as_bytes().to_vec(), archive: 0, rooted: false };
        let mut nodes = Nodes::new();
        for directory in ["d", "d/e"] {
            nodes.insert(directory.into(), Node::Directory);
        }
        nodes.insert("d/file".into(), Node::File);
        for (path, target) in links {
            nodes.insert((*path).into(), Node::Link(link(target)));
        }
        let target = links.iter().find(|(name, _)| *name == path).unwrap().1;
        follow(&nodes, path.as_bytes(), &link(target))
    }

    #[test]
    fn links_are_followed_as_the_system_does() {
        let to = |path: &str| Leads::To(path.as_bytes().to_vec());
        assert_eq!(leads(&[("a", "d/./e/../file")], "a"), to("d/file"));
        assert_eq!(leads(&[("d/a", "..")], "d/a"), to(""));
        assert_eq!(leads(&[("d/a", "../..")], "d/a"), Leads::Out);
        assert_eq!(leads(&[("a", "b/file"), ("b", "d")], "a"), to("d/file"));
        // `b` is `d/e`, so that `b/..` is `d` and not where `b` is.
        assert_eq!(leads(&[("a", "b/../file"), ("b", "d/e")], "a"), to("d/file"));
        assert_eq!(leads(&[("a", "b/../.."), ("b", "d")], "a"), Leads::Out);
        assert_eq!(leads(&[("a", "b"), ("b", "/etc")], "a"), Leads::Out);
        assert_eq!(leads(&[("a", "d/e/")], "a"), to("d/e"));
        for nowhere in ["d/none", "d/file/", "d/file/.", "d/file/x", "a", "none/x"] {
            assert_eq!(leads(&[("a", nowhere)], "a"), Leads::Nowhere, "{nowhere}");
        }
        // Even by way of what is not there.
        assert_eq!(leads(&[("a", "none/../../x")], "a"), Leads::Out);
    }

    #[test]
    fn names_become_paths() {
        let path = |name: &str| inner_path(name.as_bytes()).map(|p| String::from_utf8(p).unwrap());
        assert_eq!(path("./a//b/./c/"), Ok("a/b/c".to_owned()));
        assert_eq!(path("./"), Ok(String::new()));
        assert_eq!(path("a/..b/c.."), Ok("a/..b/c..".to_owned()));
        assert_eq!(path("/a"), Err(Flaw::Absolute));
        assert_eq!(path("a/.."), Err(Flaw::Parent));
        assert_eq!(path("a\0b"), Err(Flaw::Name));
        assert_eq!(path(""), Err(Flaw::Name));
        assert_eq!(path(&"a/".repeat(3000)), Err(Flaw::Name));
    }
}
