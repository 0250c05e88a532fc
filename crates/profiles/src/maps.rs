//! Which file is where in the memory of a process.

use std::fs;

/// What the kernel maps into every process, to tell the time without a system call.
pub(crate) const VDSO: &str = "[vdso]";

/// A part of memory that may be executed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Where it begins in its file.
    pub(crate) offset: u64,
    /// Its file; ` (deleted)` follows where that was removed.
    pub(crate) path: String,
}

/// The executable parts of a process, in the order of their addresses; none of one that has ended.
pub(crate) fn of_process(process: u32) -> Vec<Mapping> {
    let text = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

/// `7f0a-7f0b r-xp 00001000 fe:00 1234   /usr/lib/libc.so.6`
fn parse(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let is_executable = words.next()?.contains('x');
    let hexadecimal = |text| u64::from_str_radix(text, 16).ok();
    let offset = hexadecimal(words.next()?)?;
    let path = words.nth(2)?.trim_start();
    let named = is_executable && !path.is_empty();
    let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
    named.then(|| Mapping { start, end, offset, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_executable_parts_count() {
        let line =
            "7f0a00-7f0b00 r-xp 00001000 fe:00 1234                     /a b/lib.so (deleted)";
        let path = "/a b/lib.so (deleted)".to_owned();
        assert_eq!(
            parse(line),
            Some(Mapping { start: 0x7f_0a00, end: 0x7f_0b00, offset: 0x1000, path })
        );
        assert_eq!(parse(&line.replace("r-xp", "r--p")), None);
        assert_eq!(parse("7f0a00-7f0b00 r-xp 00000000 00:00 0 "), None);
        assert_eq!(parse("not a mapping"), None);
        assert!(of_process(std::process::id()).iter().any(|part| part.path == VDSO));
        assert!(of_process(u32::MAX).is_empty());
    }
}
