//! The buffer that the kernel writes its records into, and we read them from.
#![expect(unsafe_code, reason = "memory that is shared with the kernel")]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings::perf_event_mmap_page;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use crate::error::ProfileError;

/// Bytes for records: more than sixty samples, a third of a second of one CPU. Users without privileges may have
/// less, by the kernel's default.
const LENGTHS: [usize; 2] = [4 << 20, 256 << 10];

/// Of every record: type, flags and length.
const HEADER: usize = 8;

pub(crate) struct Ring {
    event: OwnedFd,
    /// One page that says how far both sides are, then the records.
    base: NonNull<perf_event_mmap_page>,
    /// Of the records: a power of two.
    length: usize,
    record: Vec<u8>,
}

impl Ring {
    /// Maps the buffer of an event.
    pub(crate) fn map(event: OwnedFd) -> Result<Self, ProfileError> {
        let mut refused = ProfileError::NoMemory;
        for length in LENGTHS {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let whole = page_size() + length;
            // SAFETY: a new mapping, at a place that the kernel chooses.
            let mapped =
                unsafe { mmap(ptr::null_mut(), whole, access, MapFlags::SHARED, &event, 0) };
            match mapped.map(|base| NonNull::new(base.cast())) {
                Ok(Some(base)) => return Ok(Self { event, base, length, record: Vec::new() }),
                Ok(None) => {}
                Err(cause) => refused = ProfileError::of_map(cause),
            }
        }
        Err(refused)
    }

    /// How far the kernel is.
    pub(crate) fn head(&self) -> u64 {
        self.place(|page| &raw mut page.data_head).load(Ordering::Acquire)
    }

    /// Hands over each record before `head`, header included, and frees its place.
    pub(crate) fn drain(&mut self, head: u64, take: impl FnMut(&[u8])) {
        let tail = self.each(head, usize::MAX, take);
        self.place(|page| &raw mut page.data_tail).store(tail, Ordering::Release);
    }

    /// Hands over each record before `head`, or its first `most` bytes, and returns where the next one begins.
    pub(crate) fn each(&mut self, head: u64, most: usize, mut take: impl FnMut(&[u8])) -> u64 {
        let mut tail = self.place(|page| &raw mut page.data_tail).load(Ordering::Relaxed);
        while head.wrapping_sub(tail) >= HEADER as u64 {
            self.copy(tail, HEADER);
            let length = usize::from(u16::from_ne_bytes([self.record[6], self.record[7]]));
            if length < HEADER || length as u64 > head.wrapping_sub(tail) {
                // The kernel writes no such record. What follows cannot be found.
                return head;
            }
            self.copy(tail, length.min(most));
            take(&self.record);
            tail = tail.wrapping_add(length as u64);
        }
        tail
    }

    fn place(&self, field: fn(&mut perf_event_mmap_page) -> *mut u64) -> &AtomicU64 {
        // SAFETY: the page stays mapped as long as `self`, and both sides change the field atomically only.
        unsafe { AtomicU64::from_ptr(field(&mut *self.base.as_ptr())) }
    }

    /// Copies a part of the records, which may begin again at their start.
    fn copy(&mut self, at: u64, length: usize) {
        self.record.resize(length, 0);
        let at = at as usize % self.length;
        let first = length.min(self.length - at);
        // SAFETY: `length` is no more than the records have, and the kernel writes elsewhere until the tail moves.
        unsafe {
            let records = self.base.as_ptr().cast::<u8>().add(page_size());
            ptr::copy_nonoverlapping(records.add(at), self.record.as_mut_ptr(), first);
            let rest = self.record.as_mut_ptr().add(first);
            ptr::copy_nonoverlapping(records, rest, length - first);
        }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: it is ours, and nobody refers to it any more.
        let _unmapped = unsafe { munmap(self.base.as_ptr().cast(), page_size() + self.length) };
    }
}
