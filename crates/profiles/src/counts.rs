//! Equal stacks, counted and named.

use std::collections::{BTreeMap, HashMap};

use model::Profile;

use crate::events::HERTZ;
use crate::kernel::Kernel;
use crate::names::fold;
use crate::sample::Sample;
use crate::unwind::{Frame, Memory};

/// Stands for code that is in no file.
const ANONYMOUS: &str = "[anonymous]";

#[derive(PartialEq, Eq, Hash)]
struct Stack {
    /// Both innermost first.
    kernel: Vec<u64>,
    user: Vec<Frame>,
    is_rooted: bool,
}

pub(crate) struct Counts {
    memory: Memory,
    kernel: Kernel,
    stacks: HashMap<Stack, u64>,
    pub(crate) lost: u64,
}

impl Counts {
    pub(crate) fn new() -> Self {
        let (memory, kernel) = (Memory::default(), Kernel::read());
        Self { memory, kernel, stacks: HashMap::new(), lost: 0 }
    }

    /// Reads the programs of a process, which may take seconds: before its samples wait.
    pub(crate) fn prepare(&mut self, process: u32) {
        self.memory.learn(process);
    }

    pub(crate) fn add(&mut self, sample: Sample<'_>) {
        let unwound = sample.user.map(|user| self.memory.unwind(sample.process, &user));
        // A thread that has no process any more, or none yet, has all of its frames in the kernel.
        let (user, is_rooted) = unwound.unwrap_or((Vec::new(), true));
        let stack = Stack { kernel: sample.kernel, user, is_rooted };
        *self.stacks.entry(stack).or_default() += 1;
    }

    /// Names all frames: each stack from its outermost frame on, in the order of the text.
    pub(crate) fn profile(self) -> Profile {
        let mut names = HashMap::new();
        let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
        for (stack, samples) in &self.stacks {
            *stacks.entry(self.folded(stack, &mut names)).or_default() += samples;
        }
        Profile { hertz: HERTZ, lost: self.lost, stacks: stacks.into_iter().collect() }
    }

    fn folded(&self, stack: &Stack, names: &mut HashMap<Frame, Option<String>>) -> String {
        let mut frames: Vec<String> = Vec::new();
        frames.extend((!stack.is_rooted).then(|| Profile::CUT.to_owned()));
        let mut outer = None;
        for frame in stack.user.iter().rev() {
            let name = names.entry(*frame).or_insert_with(|| self.name(*frame));
            match name {
                Some(name) => frames.push(name.clone()),
                // Rolled up to its nearest named caller, unless that is of another image.
                None if outer == Some(frame.image) => {}
                None => frames.push(self.anonymous(*frame)),
            }
            outer = Some(frame.image);
        }
        for address in stack.kernel.iter().rev() {
            match self.kernel.name(*address) {
                Some(name) => frames.push(format!("{}{}", fold(name), Profile::OF_KERNEL)),
                None if frames.last().is_some_and(|last| last == Profile::KERNEL) => {}
                None => frames.push(Profile::KERNEL.to_owned()),
            }
        }
        frames.join(";")
    }

    fn name(&self, frame: Frame) -> Option<String> {
        self.memory.images.get(frame.image?)?.function(frame.address)
    }

    fn anonymous(&self, frame: Frame) -> String {
        let image = frame.image.and_then(|image| self.memory.images.get(image));
        image.map_or_else(|| ANONYMOUS.to_owned(), |image| format!("[{}]", image.name))
    }
}
