//! Counts what goes into unpacking and what comes out, and stops what has no end.

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use model::Bytes;

use super::checks::Flaw;
use crate::error::{ObtainError, Result};
use crate::tree;

/// Bytes that are read at a time.
pub(super) const CHUNK: usize = 128 << 10;

/// The most entries that an archive may have. A full MySQL package has 20,000.
pub(super) const ENTRY_LIMIT: u64 = 500_000;

/// The most that one archive may unpack to.
const SIZE_LIMIT: u64 = 32 << 30;

/// The most that may come out for one byte that went in, once [`RATIO_FROM`] came out. DEFLATE alone
/// reaches 1,032, on zeros.
const RATIO_LIMIT: u64 = 1_000;

/// What may come out before the ratio matters: empty tablespaces shrink to nothing.
const RATIO_FROM: u64 = 256 << 20;

/// The most that the headers of one entry may take: long names, extended attributes.
const HEADER_LIMIT: u64 = 1 << 20;

/// The counts of one archive; shared by its readers and the sink.
#[derive(Debug, Default)]
pub(super) struct Meter {
    directory: PathBuf,
    free: u64,
    consumed: Cell<u64>,
    consumed_limit: Cell<u64>,
    produced: Cell<u64>,
    written: Cell<u64>,
    entries: Cell<u64>,
    header_left: Cell<Option<u64>>,
    ended: Cell<bool>,
    tripped: RefCell<Option<ObtainError>>,
}

impl Meter {
    pub(super) fn new(directory: &Path) -> Result<Self> {
        Ok(Self::with_free(directory, tree::free(directory)?))
    }

    fn with_free(directory: &Path, free: Bytes) -> Self {
        let consumed_limit = Cell::new(u64::MAX);
        Self { directory: directory.to_owned(), free: free.0, consumed_limit, ..Self::default() }
    }

    pub(super) fn tripped(&self) -> Option<ObtainError> {
        self.tripped.take()
    }

    /// From here on no more than this may be read.
    pub(super) fn allow_input(&self, limit: u64) {
        self.consumed.set(0);
        self.consumed_limit.set(limit);
    }

    pub(super) fn entry(&self) -> io::Result<()> {
        self.entries.set(self.entries.get() + 1);
        if self.entries.get() > ENTRY_LIMIT {
            return Err(self.bomb(Flaw::Entries(ENTRY_LIMIT)));
        }
        Ok(())
    }

    /// What is read next is a header, until [`Self::content`].
    pub(super) fn header(&self) {
        self.header_left.set(Some(HEADER_LIMIT));
        self.ended.set(false);
    }

    /// What is read next is the content of an entry.
    pub(super) fn content(&self) {
        self.header_left.set(None);
    }

    /// Did the decompressed data end while a header was read?
    pub(super) fn ended(&self) -> bool {
        self.ended.get()
    }

    pub(super) fn write(&self, count: u64) -> io::Result<()> {
        self.written.set(self.written.get().saturating_add(count));
        self.bounds(self.written.get())
    }

    /// Would writing `count` more break a bound?
    pub(super) fn foresee(&self, count: u64) -> io::Result<()> {
        self.size(self.written.get().saturating_add(count))
    }

    fn produce(&self, count: u64) -> io::Result<()> {
        if let Some(left) = self.header_left.get() {
            let Some(left) = left.checked_sub(count) else {
                return Err(self.bomb(Flaw::Header(Bytes(HEADER_LIMIT))));
            };
            self.header_left.set(Some(left));
        }
        self.produced.set(self.produced.get().saturating_add(count));
        self.bounds(self.produced.get())
    }

    fn bounds(&self, out: u64) -> io::Result<()> {
        let most = self.consumed.get().saturating_mul(RATIO_LIMIT);
        if out > RATIO_FROM && out > most {
            return Err(self.bomb(Flaw::Ratio(RATIO_LIMIT)));
        }
        self.size(out)
    }

    fn size(&self, out: u64) -> io::Result<()> {
        if out > SIZE_LIMIT {
            return Err(self.bomb(Flaw::Size(Bytes(SIZE_LIMIT))));
        }
        let need = out.saturating_add(tree::RESERVE.0);
        if need > self.free {
            return Err(self.trip(ObtainError::NoSpace {
                directory: self.directory.clone(),
                need: Bytes(need),
                free: Bytes(self.free),
            }));
        }
        Ok(())
    }

    fn consume(&self, count: u64) -> io::Result<()> {
        self.consumed.set(self.consumed.get().saturating_add(count));
        if self.consumed.get() > self.consumed_limit.get() {
            return Err(self.bomb(Flaw::Header(Bytes(self.consumed_limit.get()))));
        }
        Ok(())
    }

    fn bomb(&self, flaw: Flaw) -> io::Error {
        self.trip(ObtainError::bomb(flaw))
    }

    fn trip(&self, why: ObtainError) -> io::Error {
        *self.tripped.borrow_mut() = Some(why);
        io::Error::other("stopped by a bound")
    }
}

/// Counts what is read of the archive itself, or what comes out of a decoder.
pub(super) struct Metered<R> {
    inner: R,
    meter: Rc<Meter>,
    is_decoded: bool,
}

impl<R> Metered<R> {
    pub(super) fn archive(inner: R, meter: &Rc<Meter>) -> Self {
        Self { inner, meter: Rc::clone(meter), is_decoded: false }
    }

    pub(super) fn decoded(inner: R, meter: &Rc<Meter>) -> Self {
        Self { inner, meter: Rc::clone(meter), is_decoded: true }
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        if !self.is_decoded {
            self.meter.consume(count as u64)?;
            return Ok(count);
        }
        if count == 0 && !buffer.is_empty() {
            self.meter.ended.set(true);
        }
        self.meter.produce(count as u64)?;
        Ok(count)
    }
}

impl<R: Seek> Seek for Metered<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(free_mib: u64) -> Rc<Meter> {
        let free = Bytes::from_mib(free_mib);
        Rc::new(Meter::with_free(Path::new("builds"), free))
    }

    fn why(meter: &Meter) -> String {
        let tripped = meter.tripped().unwrap();
        tripped.of(Path::new("a.tar")).to_string()
    }

    #[test]
    fn much_out_of_little_is_stopped_and_little_out_of_nothing_is_not() {
        let small = meter(1 << 20);
        small.consume(1 << 10).unwrap();
        small.produce(RATIO_FROM).unwrap();
        assert!(small.produce(1).is_err());
        insta::assert_snapshot!(why(&small), @"a.tar is refused: it unpacks to more than 1000 times its own size; nothing was kept");
        let fair = meter(1 << 20);
        fair.consume(1 << 20).unwrap();
        fair.produce(RATIO_FROM * 3).unwrap();
        fair.write(RATIO_FROM * 3).unwrap();
        assert!(fair.write(RATIO_FROM * 2).is_err());
    }

    #[test]
    fn neither_the_disk_is_filled_nor_any_amount_written() {
        let full = meter(1500);
        full.consume(1 << 30).unwrap();
        full.write(400 << 20).unwrap();
        full.foresee(50 << 20).unwrap();
        assert!(full.foresee(100 << 20).is_err());
        insta::assert_snapshot!(why(&full), @"not enough space in builds: 1.49 GiB are needed, 1.46 GiB are free");
        let large = meter(1 << 30);
        assert!(large.foresee(SIZE_LIMIT + 1).is_err());
        insta::assert_snapshot!(why(&large), @"a.tar is refused: it unpacks to more than 32.0 GiB; nothing was kept");
    }

    #[test]
    fn entries_and_headers_are_bounded() {
        let many = meter(1 << 20);
        for _ in 0..ENTRY_LIMIT {
            many.entry().unwrap();
        }
        assert!(many.entry().is_err());
        insta::assert_snapshot!(why(&many), @"a.tar is refused: it has more than 500000 entries; nothing was kept");
        let long = meter(1 << 20);
        long.header();
        let mut reader = Metered::decoded(io::repeat(0), &long);
        let read = io::copy(&mut reader, &mut io::sink());
        assert!(read.is_err());
        insta::assert_snapshot!(why(&long), @"a.tar is refused: it has a header of more than 1.00 MiB; nothing was kept");
    }

    #[test]
    fn what_is_read_before_the_first_entry_is_bounded() {
        let large = meter(1 << 20);
        large.allow_input(1 << 20);
        let mut reader = Metered::archive(io::repeat(0), &large);
        assert!(io::copy(&mut reader, &mut io::sink()).is_err());
        insta::assert_snapshot!(why(&large), @"a.tar is refused: it has a header of more than 1.00 MiB; nothing was kept");
    }
}
