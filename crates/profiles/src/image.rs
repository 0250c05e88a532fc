//! A program or library as its file says: where its parts go, how to unwind its frames, its functions.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use framehop::ExplicitModuleSectionInfo;
use object::elf::PF_X;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef, SymbolKind};

use crate::maps::{self, Mapping, VDSO};
use crate::names::fold;

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
        let name = mapping.path.rsplit('/').next().unwrap_or_default().to_owned();
        let image =
            if mapping.path == VDSO { Self::vdso() } else { Self::of_file(process, mapping) };
        Self { name, ..image.unwrap_or_default() }
    }

    fn of_file(process: u32, mapping: &Mapping) -> Option<Self> {
        // The file itself, even where another one has its name by now; for privileged users only.
        let Mapping { start, end, path, .. } = mapping;
        let file = File::open(format!("/proc/{process}/map_files/{start:x}-{end:x}"));
        let file = file.or_else(|_| File::open(Path::new(path))).ok()?;
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

/// By address; of those that share one, the one with the shortest name.
fn functions<'a, R: ReadRef<'a>>(file: &ElfFile64<'a, Endianness, R>) -> Vec<Function> {
    let named = file.symbols().chain(file.dynamic_symbols());
    let functions = named.filter(|symbol| {
        symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.size() > 0
    });
    let functions = functions.filter_map(|symbol| {
        let addresses = symbol.address()..symbol.address().checked_add(symbol.size())?;
        Some(Function { addresses, symbol: symbol.name().ok()?.to_owned() })
    });
    let mut functions: Vec<Function> = functions.collect();
    functions.sort_by(|a, b| {
        let of = |f: &Function| (f.addresses.start, f.symbol.len());
        of(a).cmp(&of(b)).then_with(|| a.symbol.cmp(&b.symbol))
    });
    functions.dedup_by_key(|function| function.addresses.start);
    functions
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn what_is_no_program_has_a_name_only() {
        let path = "/proc/version".to_owned();
        let mapping = Mapping { start: 0, end: 4096, offset: 0, path };
        let image = Image::read(u32::MAX, &mapping);
        assert_eq!((image.name.as_str(), image.bias(&mapping)), ("version", None));
        assert_eq!(image.function(0), None);
    }
}
