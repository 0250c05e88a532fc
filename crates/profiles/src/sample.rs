//! One record of the kernel, taken apart. Its layout is that of `perf_event_open(2)` for the attributes in `events`.

use perf_event_open_sys::bindings::{
    PERF_CONTEXT_MAX, PERF_RECORD_EXIT, PERF_RECORD_FORK, PERF_RECORD_LOST,
    PERF_RECORD_MISC_SWITCH_OUT, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, PERF_RECORD_SAMPLE,
    PERF_RECORD_SWITCH, PERF_RECORD_SWITCH_CPU_WIDE,
};

/// The registers that unwinding needs, as bits of the kernel's numbers: frame pointer, stack pointer, instruction.
#[cfg(target_arch = "x86_64")]
pub(crate) const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// Frame pointer, return address, stack pointer, instruction.
#[cfg(target_arch = "aarch64")]
pub(crate) const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

pub(crate) enum Record<'a> {
    Sample(Sample<'a>),
    Switch(Switch),
    /// So many samples had no room.
    Lost(u64),
}

/// A thread leaves its CPU, or returns to one; or it begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switch {
    pub(crate) thread: u32,
    /// Nanoseconds of the monotonic clock.
    pub(crate) time: u64,
    pub(crate) way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// It waits for something.
    Asleep,
    /// It could go on, but others have its CPU.
    Preempted,
    Back,
    /// Its number may be that of a thread that has ended.
    Started,
    /// It leaves its CPU a last time after that, and that is no sleep.
    Ended,
}

/// A thread was started, the first one of a process included, or it ends.
pub(crate) struct Life {
    pub(crate) way: Way,
    pub(crate) thread: u32,
    /// The thread that started it; of one that ends, the one that waits for its process.
    pub(crate) parent: u32,
    /// Nanoseconds of the monotonic clock.
    pub(crate) time: u64,
}

pub(crate) struct Sample<'a> {
    pub(crate) process: u32,
    pub(crate) thread: u32,
    /// Nanoseconds of the monotonic clock.
    pub(crate) time: u64,
    /// How many events it stands for, by the kernel's choice of the moment.
    pub(crate) period: u64,
    /// Addresses in the kernel, the innermost first; none where the process itself ran.
    pub(crate) kernel: Vec<u64>,
    /// What the process had where it ran or entered the kernel; `None` for a thread without a process.
    pub(crate) user: Option<User<'a>>,
}

pub(crate) struct User<'a> {
    /// In the order of their bits.
    pub(crate) registers: Vec<u64>,
    /// From the stack pointer on.
    pub(crate) stack: &'a [u8],
}

impl Life {
    /// Bytes of such a record.
    pub(crate) const LENGTH: usize = 32;

    /// `None` for a record of another kind, or one that ends before its end.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let way = match reader.word()? {
            PERF_RECORD_FORK => Way::Started,
            PERF_RECORD_EXIT => Way::Ended,
            _ => return None,
        };
        // The rest of the header, and the processes.
        reader.bytes(12)?;
        let (thread, parent, time) = (reader.word()?, reader.word()?, reader.long()?);
        Some(Self { way, thread, parent, time })
    }
}

impl<'a> Record<'a> {
    /// `None` for a record of another kind, or one that ends before its end.
    pub(crate) fn of(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let (kind, flags) = (reader.word()?, reader.word()?);
        match kind {
            PERF_RECORD_SWITCH | PERF_RECORD_SWITCH_CPU_WIDE => {
                Switch::read(bytes, flags).map(Self::Switch)
            }
            PERF_RECORD_FORK | PERF_RECORD_EXIT => {
                let Life { way, thread, time, .. } = Life::of(bytes)?;
                Some(Self::Switch(Switch { thread, time, way }))
            }
            PERF_RECORD_LOST => {
                reader.long()?;
                reader.long().map(Self::Lost)
            }
            PERF_RECORD_SAMPLE => Sample::read(&mut reader).map(Self::Sample),
            _ => None,
        }
    }
}

impl Switch {
    /// What all events of a thread end in: its process, itself, the time.
    const TAIL: usize = 16;

    fn read(bytes: &[u8], flags: u32) -> Option<Self> {
        let mut reader = Reader(bytes.get(bytes.len().checked_sub(Self::TAIL)?..)?);
        let (_, thread, time) = (reader.word()?, reader.word()?, reader.long()?);
        let has = |flag: u32| flags & flag != 0;
        let way = match () {
            () if has(PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) => Way::Preempted,
            () if has(PERF_RECORD_MISC_SWITCH_OUT) => Way::Asleep,
            () => Way::Back,
        };
        Some(Self { thread, time, way })
    }
}

impl<'a> Sample<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let (process, thread, time) = (reader.word()?, reader.word()?, reader.long()?);
        let period = reader.long()?;
        let chain = reader.long()?;
        let chain = reader.longs(chain)?;
        // Marks between the parts of a chain are among the highest addresses.
        let kernel = chain.into_iter().filter(|address| *address < PERF_CONTEXT_MAX).collect();
        Some(Self { process, thread, time, period, kernel, user: User::read(reader) })
    }
}

impl<'a> User<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        if reader.long()? == 0 {
            return None;
        }
        let registers = reader.longs(REGISTERS.count_ones().into())?;
        let room = reader.long()?;
        let stack = reader.bytes(room)?;
        let used = if room == 0 { 0 } else { reader.long()? };
        Some(Self { registers, stack: stack.get(..used as usize)? })
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, length: u64) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes(8)?.try_into().ok()?))
    }

    fn longs(&mut self, count: u64) -> Option<Vec<u64>> {
        let bytes = self.bytes(count.checked_mul(8)?)?;
        Some(bytes.as_chunks().0.iter().map(|long| u64::from_ne_bytes(*long)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample of thread 8 of process 7 with one frame in the kernel and a stack of which 8 bytes of 16 are used.
    fn sample() -> Vec<u8> {
        let mut bytes = Vec::new();
        let words = [PERF_RECORD_SAMPLE, 0, 7, 8];
        bytes.extend(words.iter().flat_map(|word: &u32| word.to_ne_bytes()));
        let registers = (0..u64::from(REGISTERS.count_ones())).map(|number| 100 + number);
        let longs = [5, 3, 2, PERF_CONTEXT_MAX + 1, 0xffff_8000_0000_0010, 2];
        let stack = [16, 0x1122, 0x3344, 8];
        let longs = longs.into_iter().chain(registers).chain(stack);
        bytes.extend(longs.flat_map(u64::to_ne_bytes));
        bytes
    }

    #[test]
    fn a_sample_has_the_frames_of_the_kernel_and_the_stack_of_the_process() {
        let bytes = sample();
        let Some(Record::Sample(sample)) = Record::of(&bytes) else { panic!("no sample") };
        assert_eq!((sample.process, sample.thread, sample.time), (7, 8, 5));
        assert_eq!(sample.period, 3);
        assert_eq!(sample.kernel, [0xffff_8000_0000_0010]);
        let user = sample.user.unwrap();
        assert_eq!(user.registers[..2], [100, 101]);
        assert_eq!(user.stack, 0x1122_u64.to_ne_bytes());
    }

    #[test]
    fn a_record_that_is_cut_short_is_no_sample_of_a_process() {
        let bytes = sample();
        for length in 0..bytes.len() {
            let has_process = match Record::of(&bytes[..length]) {
                Some(Record::Sample(sample)) => sample.user.is_some(),
                Some(_) => panic!("no sample"),
                None => false,
            };
            assert!(!has_process, "{length}");
        }
    }

    #[test]
    fn a_start_and_an_end_name_both_threads() {
        for (kind, way) in [(PERF_RECORD_FORK, Way::Started), (PERF_RECORD_EXIT, Way::Ended)] {
            let words = [kind, 0, 7, 3, 8, 4, 5, 0];
            let bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_ne_bytes()).collect();
            assert_eq!(bytes.len(), Life::LENGTH);
            let life = Life::of(&bytes).unwrap();
            assert_eq!((life.way, life.thread, life.parent, life.time), (way, 8, 4, 5));
            assert!(Life::of(&bytes[..24]).is_none() && Life::of(&sample()).is_none());
            let Some(Record::Switch(switch)) = Record::of(&bytes) else { panic!("no switch") };
            assert_eq!(switch, Switch { thread: 8, time: 5, way });
        }
    }

    #[test]
    fn a_thread_leaves_its_cpu_and_returns() {
        let of = |flags: u32, next: &[u32]| {
            // The length of a record follows its flags.
            let words = [&[PERF_RECORD_SWITCH_CPU_WIDE, flags], next, &[7, 8, 5, 0]];
            let bytes: Vec<u8> =
                words.concat().iter().flat_map(|word| word.to_ne_bytes()).collect();
            match Record::of(&bytes) {
                Some(Record::Switch(Switch { thread: 8, time: 5, way })) => Some(way),
                _ => None,
            }
        };
        assert_eq!(of(0, &[1, 2]), Some(Way::Back));
        assert_eq!(of(PERF_RECORD_MISC_SWITCH_OUT, &[1, 2]), Some(Way::Asleep));
        let preempted = PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        assert_eq!(of(preempted, &[]), Some(Way::Preempted));
        assert!(Record::of(&PERF_RECORD_SWITCH.to_ne_bytes()).is_none());
    }

    #[test]
    fn lost_samples_are_counted() {
        let mut bytes = Vec::new();
        bytes.extend([PERF_RECORD_LOST, 0].iter().flat_map(|word: &u32| word.to_ne_bytes()));
        bytes.extend([1_u64, 42].iter().flat_map(|long| long.to_ne_bytes()));
        assert!(matches!(Record::of(&bytes), Some(Record::Lost(42))));
    }
}
