//! What the first bytes of a file say: a program for which machine, a script, a core.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::io::Errno;

use crate::error::ServerError;

/// Bytes of a file that are looked at.
const HEADER: u64 = 20;

/// Offset of the machine, two bytes, in the header of an ELF file.
const MACHINE: std::ops::Range<usize> = 18..20;

/// Offset of the kind of file, two bytes, and the kind that a core is.
const KIND: std::ops::Range<usize> = 16..18;
const CORE: u16 = 4;

/// Numbers of machines in ELF files, with the names that `uname -m` gives them.
const MACHINES: [(u16, &str); 9] = [
    (3, "i386"),
    (21, "ppc64"),
    (22, "s390x"),
    (40, "arm"),
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
    (258, "loongarch64"),
    (2, "sparc"),
];

/// How files of other systems begin.
const FOREIGN: [(&[u8], &str); 5] = [
    (b"MZ", "Windows"),
    (&[0xcf, 0xfa, 0xed, 0xfe], "macOS"),
    (&[0xca, 0xfe, 0xba, 0xbe], "macOS"),
    (&[0xfe, 0xed, 0xfa, 0xcf], "macOS"),
    (&[0xce, 0xfa, 0xed, 0xfe], "macOS"),
];

/// Refuses what the kernel would: neither a script nor a program for this machine. Otherwise the C library
/// would hand it to a shell, which takes it for a script.
pub(crate) fn check_format(program: &Path) -> Result<(), ServerError> {
    let theirs = header(program).map_err(cannot(program))?;
    if theirs.starts_with(b"#!") {
        return Ok(());
    }
    let ours = header(Path::new("/proc/self/exe")).map_err(cannot(program))?;
    // Magic, word size and byte order; then the machine.
    if theirs.get(..6) == ours.get(..6) && theirs.get(MACHINE) == ours.get(MACHINE) {
        return Ok(());
    }
    match machine(&theirs) {
        Some(theirs) => Err(ServerError::Architecture {
            program: program.to_owned(),
            theirs,
            ours: machine(&ours).unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        }),
        None => Err(cannot(program)(Errno::NOEXEC.into())),
    }
}

/// Is it the memory of a process that died?
pub(crate) fn is_core(path: &Path) -> bool {
    header(path).is_ok_and(|header| is_elf(&header) && number(&header, KIND) == Some(CORE))
}

/// The machine that a program is for; `None` for what is no program.
fn machine(header: &[u8]) -> Option<String> {
    if !is_elf(header) {
        let known = FOREIGN.iter().find(|(magic, _)| header.starts_with(magic));
        return known.map(|(_, system)| (*system).to_owned());
    }
    let number = number(header, MACHINE)?;
    let known = MACHINES.iter().find(|(known, _)| *known == number);
    Some(known.map_or_else(
        || format!("ELF machine {number}"),
        |(_, name)| (*name).to_owned(),
    ))
}

fn is_elf(header: &[u8]) -> bool {
    header.starts_with(b"\x7fELF")
}

/// Two bytes of the header, in the order that the header itself tells.
fn number(header: &[u8], range: std::ops::Range<usize>) -> Option<u16> {
    const BIG_ENDIAN: u8 = 2;
    let bytes: [u8; 2] = header.get(range)?.try_into().ok()?;
    Some(if header.get(5) == Some(&BIG_ENDIAN) {
        u16::from_be_bytes(bytes)
    } else {
        u16::from_le_bytes(bytes)
    })
}

/// The first bytes of a file.
fn header(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(HEADER).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn cannot(program: &Path) -> impl FnOnce(io::Error) -> ServerError + use<> {
    let program = program.to_owned();
    move |cause| ServerError::CannotExecute { program, cause }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_machine_of_a_program_is_named() {
        let mut header = header(Path::new("/proc/self/exe")).unwrap();
        assert_eq!(machine(&header).as_deref(), Some(std::env::consts::ARCH));
        header[18..20].copy_from_slice(&[183, 0]);
        assert_eq!(machine(&header).as_deref(), Some("aarch64"));
        header[18..20].copy_from_slice(&[0xff, 0x7f]);
        assert_eq!(machine(&header).as_deref(), Some("ELF machine 32767"));
        // s390x is big-endian.
        header[5] = 2;
        header[18..20].copy_from_slice(&[0, 22]);
        assert_eq!(machine(&header).as_deref(), Some("s390x"));
        assert_eq!(machine(b"MZ\x90").as_deref(), Some("Windows"));
        assert_eq!(machine(b"\x7fELF\x02\x01"), None);
        assert_eq!(machine(b""), None);
    }

    #[test]
    fn programs_and_scripts_of_this_machine_pass_and_others_do_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mysqld");
        let check = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            let refused = check_format(&path).err()?.to_string();
            Some(refused.replace(&directory.path().display().to_string(), "DIR"))
        };
        assert!(check_format(Path::new("/proc/self/exe")).is_ok());
        assert_eq!(check(b"#!/bin/sh\n"), None);
        let mut elf = header(Path::new("/proc/self/exe")).unwrap();
        elf[18..20].copy_from_slice(&[243, 0]);
        let ours = std::env::consts::ARCH;
        assert_eq!(
            check(&elf).unwrap(),
            format!(
                "DIR/mysqld is a program for riscv64, and this machine is {ours}: get the build for {ours}"
            )
        );
        let text = check(b"echo 'mysqld  Ver 8.0.33'").unwrap();
        assert!(text.contains("Exec format error"), "{text}");
        assert!(check(b"").unwrap().contains("Exec format error"));
    }

    #[test]
    fn a_core_is_told_from_a_program() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("core");
        let mut elf = header(Path::new("/proc/self/exe")).unwrap();
        fs::write(&path, &elf).unwrap();
        assert!(!is_core(&path));
        let kind = if elf[5] == 2 { [0, 4] } else { [4, 0] };
        elf[16..18].copy_from_slice(&kind);
        fs::write(&path, &elf).unwrap();
        assert!(is_core(&path));
        assert!(!is_core(directory.path()));
    }
}
