//! A program or library as its file says: where its parts go, how to unwind its frames, its functions.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use framehop::ExplicitModuleSectionInfo;
use lzma_rust2::XzReader;
use object::elf::PF_X;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef, SymbolKind};

use crate::maps::{self, Mapping, VDSO};
use crate::names::fold;

/// What the kernel writes after the name of a file that was removed.
const DELETED: &str = " (deleted)";
/// Symbols that distributions pack into a stripped program: xz of a program that has nothing else.
const PACKED: &str = ".gnu_debugdata";
/// Bytes of them at most, and what unpacking may take.
const MOST_SYMBOLS: u64 = 256 << 20;
const XZ_MEMORY_KIB: u32 = 64 << 10;

/// Tables of a file, shared by all processes that have it.
pub(crate) type Tables = ExplicitModuleSectionInfo<Arc<[u8]>>;

#[derive(Default)]
pub(crate) struct Image {
    /// `mysqld`
    pub(crate) name: String,
    pub(crate) tables: Tables,
    /// Each executable segment: its place in the file, and the address there that the file states.
    segments: Vec<(Range<u64>, u64)>,
    functions: Vec<Function>,
}

struct Function {
    addresses: Range<u64>,
    symbol: String,
}

impl Image {
    /// What is mapped there in a process. Of a file that cannot be read or is no program only the name is known.
    pub(crate) fn read(process: u32, mapping: &Mapping) -> Self {
        let file = mapping.path.rsplit('/').next().unwrap_or_default();
        let name = file.strip_suffix(DELETED).unwrap_or(file).to_owned();
        let image =
            if mapping.path == VDSO { Self::vdso() } else { Self::of_file(process, mapping) };
        Self { name, ..image.unwrap_or_default() }
    }

    fn of_file(process: u32, mapping: &Mapping) -> Option<Self> {
        // The file itself, even where another one has its name by now; for privileged users only.
        let Mapping { start, end, path, .. } = mapping;
        let file = File::open(format!("/proc/{process}/map_files/{start:x}-{end:x}"));
        let file = file.or_else(|_| File::open(Path::new(path))).or_else(|error| {
            // A program that was removed may still be read where it runs.
            let program = format!("/proc/{process}/exe");
            let is_it = fs::read_link(&program).is_ok_and(|own| own == Path::new(path));
            if is_it { File::open(program) } else { Err(error) }
        });
        let file = file.ok()?;
        Self::parse(&ReadCache::new(file))
    }

    /// It is in no file, and the same in each process: here is ours.
    fn vdso() -> Option<Self> {
        let own = maps::of_process(std::process::id());
        let Mapping { start, end, .. } = own.into_iter().find(|mapping| mapping.path == VDSO)?;
        let mut bytes = vec![0; usize::try_from(end.checked_sub(start)?).ok()?];
        File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, start).ok()?;
        Self::parse(&*bytes)
    }

    fn parse<'a, R: ReadRef<'a>>(bytes: R) -> Option<Self> {
        let file: ElfFile64<'a, Endianness, R> = ElfFile64::parse(bytes).ok()?;
        let endian = file.endian();
        let segments = file.elf_program_headers().iter();
        let executable = segments.filter(|segment| segment.p_flags(endian).contains(PF_X));
        let segments = executable.map(|segment| {
            let (offset, size) = segment.file_range(endian);
            (offset..offset.saturating_add(size), segment.p_vaddr(endian))
        });
        Some(Self {
            name: String::new(),
            tables: tables(&file),
            segments: segments.collect(),
            functions: functions(&file),
        })
    }

    /// What is added to the addresses in the file, in a process that has a part of it there.
    pub(crate) fn bias(&self, mapping: &Mapping) -> Option<u64> {
        // Whole pages are mapped, so that a mapping begins before its segment.
        let end = mapping.offset.saturating_add(mapping.end.saturating_sub(mapping.start));
        let overlaps = |range: &Range<u64>| range.start < end && mapping.offset < range.end;
        let (range, address) = self.segments.iter().find(|(range, _)| overlaps(range))?;
        let from_file = mapping.start.wrapping_sub(mapping.offset);
        Some(from_file.wrapping_add(range.start).wrapping_sub(*address))
    }

    /// The folded name of the function at an address of the file; never that of a function before it.
    pub(crate) fn function(&self, address: u64) -> Option<String> {
        let after = self.functions.partition_point(|function| function.addresses.start <= address);
        let function = self.functions.get(after.checked_sub(1)?)?;
        function.addresses.contains(&address).then(|| fold(&function.symbol))
    }
}

fn tables<'a, R: ReadRef<'a>>(file: &ElfFile64<'a, Endianness, R>) -> Tables {
    let range = |name| {
        let section = file.section_by_name(name)?;
        Some(section.address()..section.address().saturating_add(section.size()))
    };
    let data = |name| file.section_by_name(name)?.data().ok().map(Arc::from);
    Tables {
        text_svma: range(".text"),
        got_svma: range(".got"),
        eh_frame_svma: range(".eh_frame"),
        eh_frame: data(".eh_frame"),
        eh_frame_hdr_svma: range(".eh_frame_hdr"),
        eh_frame_hdr: data(".eh_frame_hdr"),
        debug_frame: data(".debug_frame"),
        ..Tables::default()
    }
}

/// Its own functions and packed ones by address; of those that share one, the one with the shortest name.
fn functions<'a, R: ReadRef<'a>>(file: &ElfFile64<'a, Endianness, R>) -> Vec<Function> {
    let mut functions = named(file);
    functions.extend(packed(file).unwrap_or_default());
    functions.sort_by(|a, b| {
        let of = |f: &Function| (f.addresses.start, f.symbol.len());
        of(a).cmp(&of(b)).then_with(|| a.symbol.cmp(&b.symbol))
    });
    functions.dedup_by_key(|function| function.addresses.start);
    functions
}

fn packed<'a, R: ReadRef<'a>>(file: &ElfFile64<'a, Endianness, R>) -> Option<Vec<Function>> {
    let section = file.section_by_name(PACKED)?.data().ok()?;
    let mut bytes = Vec::new();
    let unpacked = XzReader::new_mem_limit(section, true, XZ_MEMORY_KIB);
    unpacked.take(MOST_SYMBOLS).read_to_end(&mut bytes).ok()?;
    Some(named(&ElfFile64::parse(&*bytes).ok()?))
}

fn named<'a, R: ReadRef<'a>>(file: &ElfFile64<'a, Endianness, R>) -> Vec<Function> {
    let named = file.symbols().chain(file.dynamic_symbols());
    let functions = named.filter(|symbol| {
        symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.size() > 0
    });
    let functions = functions.filter_map(|symbol| {
        let addresses = symbol.address()..symbol.address().checked_add(symbol.size())?;
        Some(Function { addresses, symbol: symbol.name().ok()?.to_owned() })
    });
    functions.collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};
    use std::process::Command;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[unsafe(no_mangle)]
    #[expect(unsafe_code, reason = "a name to look for")]
    extern "C" fn profiles_known_function() -> u32 {
        std::hint::black_box(7)
    }

    fn own(at: u64) -> (Mapping, Image) {
        let own = maps::of_process(std::process::id());
        let mapping = own.into_iter().find(|part| (part.start..part.end).contains(&at)).unwrap();
        let image = Image::read(std::process::id(), &mapping);
        (mapping, image)
    }

    #[test]
    fn a_function_of_this_program_is_found_by_its_address() {
        let address = profiles_known_function as *const () as u64;
        let (mapping, image) = own(address);
        let stated = address - image.bias(&mapping).unwrap();
        assert_eq!(image.function(stated).as_deref(), Some("profiles_known_function"));
        assert_eq!(image.function(0), None);
        assert!(image.tables.eh_frame.is_some() && image.name.starts_with("profiles-"));
    }

    #[test]
    fn the_clock_of_the_kernel_has_functions() {
        let image = Image::vdso().unwrap();
        assert!(image.functions.iter().any(|f| f.symbol.ends_with("clock_gettime")));
    }

    fn run(program: &str, arguments: &[&OsStr]) -> bool {
        Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
    }

    /// A copy of this program without symbols but those that are packed into it, as distributions do it.
    #[test]
    fn packed_symbols_name_functions() {
        let directory = tempfile::tempdir().unwrap();
        let [own, symbols, packed, stripped, bare] =
            ["own", "symbols", "symbols.xz", "stripped", "bare"]
                .map(|name| directory.path().join(name));
        fs::copy("/proc/self/exe", &own).unwrap();
        let word = OsStr::new;
        let tools = run("objcopy", &[word("--strip-debug"), own.as_ref(), symbols.as_ref()])
            && run("xz", &[word("-0"), symbols.as_ref()]);
        if !tools {
            return testkit::not_permitted(
                "no objcopy and xz, which come with binutils and xz-utils",
            );
        }
        let mut section = OsString::from(format!("--add-section={PACKED}="));
        section.push(&packed);
        assert!(run("objcopy", &[word("--strip-all"), &section, own.as_ref(), stripped.as_ref()]));
        let has = |path: &Path| {
            let image = Image::parse(&ReadCache::new(File::open(path).unwrap())).unwrap();
            image.functions.iter().any(|f| f.symbol == "profiles_known_function")
        };
        assert!(has(&own) && has(&stripped));
        assert!(run("objcopy", &[word("--strip-all"), own.as_ref(), bare.as_ref()]) && !has(&bare));
    }

    #[test]
    fn a_program_that_was_removed_is_read_where_it_runs() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("sleeper");
        // `cp` writes it: if this process did, a child of a parallel test could keep it open for writing (ETXTBSY).
        assert!(run("cp", &["/bin/sleep".as_ref(), program.as_ref()]));
        let mut child = Command::new(&program).arg("60").spawn().unwrap();
        fs::remove_file(&program).unwrap();
        // `spawn` returns before the kernel has mapped the program.
        let own = (0..1_000).find_map(|_| {
            thread::sleep(Duration::from_millis(1));
            let mut mappings = maps::of_process(child.id()).into_iter();
            mappings.find(|mapping| mapping.path.ends_with(DELETED))
        });
        let image = own.map(|own| Image::read(child.id(), &own));
        child.kill().unwrap();
        child.wait().unwrap();
        let image = image.unwrap();
        assert!(image.name == "sleeper" && image.tables.eh_frame.is_some());
    }

    #[test]
    fn what_is_no_program_has_a_name_only() {
        let path = "/proc/version".to_owned();
        let mapping = Mapping { start: 0, end: 4096, offset: 0, path };
        let image = Image::read(u32::MAX, &mapping);
        assert_eq!((image.name.as_str(), image.bias(&mapping)), ("version", None));
        assert_eq!(image.function(0), None);
    }
}
