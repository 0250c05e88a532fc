//! What a file is that may be a program.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use object::elf::{self, DataEncoding, FileClass, FileHeader32, FileHeader64, Machine};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, ReadCache};

/// What the first bytes of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Begins with `#!`.
    Script,
    Elf(Elf),
    /// A program of another system, by its name.
    Foreign(&'static str),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elf {
    pub target: Target,
    /// The memory of a process that died.
    pub is_core: bool,
    /// Does it name a loader, and so libraries? Libraries and static programs do not.
    pub names_loader: bool,
}

/// What a program runs on. Displays as `uname -m` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    machine: Machine,
    word_size: FileClass,
    byte_order: DataEncoding,
}

const MACHINES: [(Machine, &str); 9] = [
    (elf::EM_386, "i386"),
    (elf::EM_PPC64, "ppc64"),
    (elf::EM_S390, "s390x"),
    (elf::EM_ARM, "arm"),
    (elf::EM_X86_64, "x86_64"),
    (elf::EM_AARCH64, "aarch64"),
    (elf::EM_RISCV, "riscv64"),
    (elf::EM_LOONGARCH, "loongarch64"),
    (elf::EM_SPARC, "sparc"),
];

/// How files of other systems begin.
const FOREIGN: [(&[u8], &str); 5] = [
    (b"MZ", "Windows"),
    (&[0xcf, 0xfa, 0xed, 0xfe], "macOS"),
    (&[0xca, 0xfe, 0xba, 0xbe], "macOS"),
    (&[0xfe, 0xed, 0xfa, 0xcf], "macOS"),
    (&[0xce, 0xfa, 0xed, 0xfe], "macOS"),
];

impl Format {
    /// Errors: a file that cannot be read. One that is damaged is [`Format::Unknown`].
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(4).read_to_end(&mut head)?;
        file.rewind()?;
        if head.starts_with(b"#!") {
            return Ok(Self::Script);
        }
        let foreign = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic));
        if let Some((_, system)) = foreign {
            return Ok(Self::Foreign(system));
        }
        let file = ReadCache::new(file);
        let elf = Elf::read::<FileHeader64<Endianness>>(&file);
        let elf = elf.or_else(|_| Elf::read::<FileHeader32<Endianness>>(&file));
        Ok(elf.map_or(Self::Unknown, Self::Elf))
    }
}

/// The compilers that a program names, each once: `gcc 8.5.0`. None where it says nothing, as without sections.
///
/// The objects that start a program (`crt1.o`) come with the C library and are linked first. So of several compilers
/// the first is the C library's, and is left out.
pub fn compilers(path: &Path) -> io::Result<Vec<String>> {
    let file = ReadCache::new(File::open(path)?);
    let found = comment::<FileHeader64<Endianness>>(&file);
    let found = found.or_else(|_| comment::<FileHeader32<Endianness>>(&file));
    let text = String::from_utf8_lossy(found.unwrap_or_default());
    Ok(of_program(&text))
}

fn of_program(comment: &str) -> Vec<String> {
    let mut all: Vec<String> = comment.split('\0').filter_map(compiler).collect();
    if let Some(first) = all.first().cloned()
        && all.iter().any(|one| *one != first)
    {
        all.retain(|one| *one != first);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The section in which compilers leave their names.
fn comment<H: FileHeader<Endian = Endianness>>(file: &ReadCache<File>) -> object::Result<&[u8]> {
    let header = H::parse(file)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, file)?;
    let found = sections.section_by_name(endian, b".comment");
    found.map_or(Ok(&[]), |(_, section)| section.data(endian, file))
}

/// `GCC: (Debian 12.2.0-14) 12.2.0`, `clang version 15.0.7 (…)`; linkers name themselves, too.
fn compiler(text: &str) -> Option<String> {
    let (name, version) = match text.split_once("GCC: (") {
        Some((_, rest)) => ("gcc", rest.rsplit_once(") ")?.1),
        None => ("clang", text.split_once("clang version ")?.1),
    };
    Some(format!("{name} {}", version.split_whitespace().next()?))
}

impl Elf {
    fn read<H: FileHeader<Endian = Endianness>>(file: &ReadCache<File>) -> object::Result<Self> {
        let header = H::parse(file)?;
        let endian = header.endian()?;
        let segments = header.program_headers(endian, file).unwrap_or_default();
        let ident = header.e_ident();
        Ok(Self {
            target: Target {
                machine: header.e_machine(endian),
                word_size: ident.class,
                byte_order: ident.data,
            },
            is_core: header.e_type(endian) == elf::ET_CORE,
            names_loader: segments.iter().any(|segment| segment.p_type(endian) == elf::PT_INTERP),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match MACHINES.iter().find(|(machine, _)| *machine == self.machine) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "ELF machine {}", self.machine.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const HEADER: usize = 64;

    fn of(bytes: &[u8]) -> Format {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, bytes).unwrap();
        Format::of(&path).unwrap()
    }

    fn elf(bytes: &[u8]) -> Elf {
        match of(bytes) {
            Format::Elf(elf) => elf,
            other => panic!("{other:?}"),
        }
    }

    /// A header and one segment of this kind.
    fn program(kind: u8, segments_at: u64) -> Vec<u8> {
        let mut bytes = vec![0; HEADER + 56];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[18] = 62;
        bytes[32..40].copy_from_slice(&segments_at.to_le_bytes());
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[HEADER] = kind;
        bytes
    }

    #[test]
    fn programs_with_a_loader_are_told_from_others() {
        assert!(elf(&program(3, HEADER as u64)).names_loader);
        assert!(!elf(&program(1, HEADER as u64)).names_loader);
        // A header that lies about where its segments are.
        assert!(!elf(&program(3, u64::MAX)).names_loader);
        assert!(!elf(&program(3, 1 << 40)).names_loader);
        assert_eq!(of(&program(3, HEADER as u64)[..63]), Format::Unknown);
        assert_eq!(of(b"#!/bin/sh\n"), Format::Script);
        assert_eq!(of(b""), Format::Unknown);
    }

    #[test]
    fn the_machine_of_a_program_is_named() {
        let mut bytes = program(3, HEADER as u64);
        let mut named = |at: usize, value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
            elf(&bytes).target.to_string()
        };
        assert_eq!(named(18, &[183, 0]), "aarch64");
        assert_eq!(named(18, &[0xff, 0x7f]), "ELF machine 32767");
        // s390x is big-endian.
        bytes[5] = 2;
        bytes[18..20].copy_from_slice(&[0, 22]);
        assert_eq!(elf(&bytes).target.to_string(), "s390x");
        // i386 has shorter words.
        let mut bytes = vec![0; 52];
        bytes[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
        bytes[18] = 3;
        assert_eq!(elf(&bytes).target.to_string(), "i386");
        assert_eq!(of(b"MZ\x90"), Format::Foreign("Windows"));
        assert_eq!(of(b"\x7fELF\x02\x01"), Format::Unknown);
    }

    #[test]
    fn a_core_is_told_from_a_program() {
        let mut bytes = program(1, HEADER as u64);
        assert!(!elf(&bytes).is_core);
        bytes[16] = 4;
        assert!(elf(&bytes).is_core);
    }

    #[test]
    fn this_program_has_a_loader_and_the_machine_of_the_host() {
        let Format::Elf(own) = Format::of(Path::new("/proc/self/exe")).unwrap() else {
            panic!("no program")
        };
        assert!(own.names_loader && !own.is_core);
        assert_eq!(own.target.to_string(), std::env::consts::ARCH);
    }

    #[test]
    fn the_compiler_of_the_startup_objects_is_left_out_where_there_is_another() {
        let old = "GCC: (GNU) 4.4.7 20120313 (Red Hat 4.4.7-23.0.1)";
        let new = "GCC: (GNU) 8.3.1 20190311 (Red Hat 8.3.1-3)";
        let clang = "clang version 15.0.7 (tag)";
        assert_eq!(of_program(&format!("{old}\0{new}\0")), ["gcc 8.3.1"]);
        assert_eq!(
            of_program(&format!("{old}\0{old}\0{clang}\0{new}\0")),
            ["clang 15.0.7", "gcc 8.3.1"]
        );
        assert_eq!(of_program(&format!("{old}\0{old}\0")), ["gcc 4.4.7"]);
        assert_eq!(of_program(""), [""; 0]);
    }

    #[test]
    fn compilers_are_told_by_name_and_version() {
        let all = [
            ("GCC: (GNU) 8.5.0 20210514 (Red Hat 8.5.0-10)", Some("gcc 8.5.0")),
            ("GCC: (Debian 12.2.0-14+deb12u1) 12.2.0", Some("gcc 12.2.0")),
            ("Ubuntu clang version 15.0.7 (tag)", Some("clang 15.0.7")),
            ("Linker: LLD 15.0.7", None),
            ("GCC: (cut", None),
            ("", None),
        ];
        for (text, expected) in all {
            assert_eq!(compiler(text).as_deref(), expected, "{text}");
        }
        // This program has one at least; a text has none.
        let own = compilers(&std::env::current_exe().unwrap()).unwrap();
        assert!(
            own.iter().any(|one| one.starts_with("gcc ") || one.starts_with("clang ")),
            "{own:?}"
        );
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "GCC: (GNU) 8.5.0").unwrap();
        assert_eq!(compilers(&path).unwrap(), [""; 0]);
    }
}
