//! What an archive may not ask for: the names of its entries and where its links lead.

use std::collections::HashMap;
use std::fmt;

use model::Bytes;

/// The longest name of an entry, and target of a link: what the system allows for a path.
const NAME_LIMIT: usize = 4096;

/// The most links that are followed to find where one leads, as the system has it.
const HOPS: usize = 40;

/// What is wrong with an archive or an entry of it; continues a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// A name that begins at the root.
    Absolute,
    /// A name with `..` in it.
    Parent,
    /// A name that is empty, too long, or no text that a path can hold.
    Name,
    /// A link to what no path can be.
    Target,
    /// A link, symbolic or hard, that leads elsewhere: its target.
    LinkOut(String),
    /// A hard link to something that is no file of the archive: its target.
    HardLink(String),
    /// An entry that lies below a link: the link.
    ThroughLink(String),
    /// An entry that lies below a file: the file.
    BelowFile(String),
    /// An entry that comes twice as different things: what it was, what it becomes.
    Replaces(&'static str, &'static str),
    /// An entry that is no file, directory or link.
    Special(&'static str),
    /// An entry that only a password opens.
    Encrypted,
    /// Entries that share their bytes.
    Overlap,
    /// Two entries of one name where the format allows one.
    Twice,
    /// More entries than this.
    Entries(u64),
    /// A header of more than this.
    Header(Bytes),
    /// More than this comes out.
    Size(Bytes),
    /// More than so many times its own size comes out.
    Ratio(u64),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute => f.write_str("has an absolute path"),
            Self::Parent => f.write_str("has `..` in its path"),
            Self::Name => f.write_str("has no usable name"),
            Self::Target => f.write_str("is a link without a usable target"),
            Self::LinkOut(target) => write!(f, "is a link that leads out, to `{target}`"),
            Self::HardLink(target) => write!(f, "is a hard link to `{target}`, which is no file"),
            Self::ThroughLink(link) => write!(f, "would be written through the link `{link}`"),
            Self::BelowFile(file) => write!(f, "lies below `{file}`, which is a file"),
            Self::Replaces(was, becomes) => write!(f, "comes twice: as a {was} and as a {becomes}"),
            Self::Special(kind) => write!(f, "is a {kind}"),
            Self::Encrypted => f.write_str("is encrypted"),
            Self::Overlap => f.write_str("has entries that overlap"),
            Self::Twice => f.write_str("has two entries of the same name"),
            Self::Entries(limit) => write!(f, "has more than {limit} entries"),
            Self::Header(limit) => write!(f, "has a header of more than {limit}"),
            Self::Size(limit) => write!(f, "unpacks to more than {limit}"),
            Self::Ratio(limit) => write!(f, "unpacks to more than {limit} times its own size"),
        }
    }
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
    path.split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
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

/// Everything in the tree, by path.
pub(super) type Nodes = HashMap<Inner, Node>;

/// What is in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Directory,
    File,
    /// A symbolic link.
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
    /// Which of the archives it is of.
    pub(super) archive: usize,
    /// Does a target that begins with a slash mean the tree's root, as in packages of a distribution?
    pub(super) rooted: bool,
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To something in the tree.
    To(Inner),
    /// To nothing, or to itself.
    Nowhere,
    /// Out of the tree.
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
    if lost {
        Leads::Nowhere
    } else {
        Leads::To(place)
    }
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
        let link = |target: &str| Link {
            target: target.as_bytes().to_vec(),
            archive: 0,
            rooted: false,
        };
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
        assert_eq!(
            leads(&[("a", "b/../file"), ("b", "d/e")], "a"),
            to("d/file")
        );
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
