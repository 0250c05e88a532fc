//! Stacks, from a sample to the names of their functions.

use std::collections::HashMap;

use model::Profile;

use crate::kernel::Kernel;
use crate::names::fold;
use crate::sample::Sample;
use crate::unwind::{Frame, Memory};

/// Stands for code that is in no file.
const ANONYMOUS: &str = "[anonymous]";

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stack {
    /// Both innermost first.
    kernel: Vec<u64>,
    user: Vec<Frame>,
    is_rooted: bool,
}

/// Unwinds stacks and names their frames.
pub(crate) struct Stacks {
    pub(crate) memory: Memory,
    pub(crate) kernel: Kernel,
    known: HashMap<Frame, Option<String>>,
}

impl Stacks {
    pub(crate) fn new() -> Self {
        Self { memory: Memory::default(), kernel: Kernel::read(), known: HashMap::new() }
    }

    #[cfg(test)]
    pub(crate) fn of_kernel(functions: &str) -> Self {
        Self { kernel: Kernel::parse(functions), ..Self::new() }
    }

    pub(crate) fn stack(&mut self, sample: Sample<'_>) -> Stack {
        let unwound = sample.user.map(|user| self.memory.unwind(sample.process, &user));
        // A thread that has no process any more, or none yet, has all of its frames in the kernel.
        let (user, is_rooted) = unwound.unwrap_or((Vec::new(), true));
        Stack { kernel: sample.kernel, user, is_rooted }
    }

    /// The stack that an interrupt found, without the frames of the interrupt itself.
    pub(crate) fn interrupted(&mut self, mut sample: Sample<'_>) -> Stack {
        let entry = sample.kernel.iter().position(|address| self.kernel.is_entry(*address));
        sample.kernel.drain(..entry.map_or(0, |entry| entry + 1));
        self.stack(sample)
    }

    /// Its functions from the outermost on, separated by `;`.
    pub(crate) fn folded(&mut self, stack: &Stack) -> String {
        let mut frames: Vec<String> = Vec::new();
        frames.extend((!stack.is_rooted).then(|| Profile::CUT.to_owned()));
        let mut outer = None;
        for frame in stack.user.iter().rev() {
            if !self.known.contains_key(frame) {
                self.known.insert(*frame, self.name(*frame));
            }
            match &self.known[frame] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_stack_begins_below_the_interrupt() {
        let functions = "1000 t ticks\n2000 t asm_timer\n3000 t reads\n4000 t asm_fault\n";
        let mut stacks = Stacks::of_kernel(functions);
        let mut folded = |kernel: &[u64]| {
            let kernel = kernel.to_vec();
            let sample = Sample { process: 1, thread: 1, time: 0, period: 1, kernel, user: None };
            let stack = stacks.interrupted(sample);
            stacks.folded(&stack)
        };
        assert_eq!(folded(&[0x1000, 0x2000, 0x3000, 0x4000]), "asm_fault_[k];reads_[k]");
        // The process itself was interrupted, or nobody knows how.
        assert_eq!(folded(&[0x1000, 0x2000]), "");
        assert_eq!(folded(&[0x1000]), "ticks_[k]");
    }
}
