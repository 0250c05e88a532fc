//! From registers and a copied stack to the functions that called each other.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use framehop::{
    CacheNative, MayAllocateDuringUnwind, Module, UnwindRegsNative, Unwinder, UnwinderNative,
};

use crate::image::Image;
use crate::maps::{self, Mapping};
use crate::sample::User;

/// Frames of a stack, at most: what recursion has beyond is cut.
const DEEPEST: usize = 512;
/// How often the memory map of a process is read, at most: programs load libraries when they are under way.
const READINGS: u32 = 8;

/// The instruction, the stack pointer, and all of them.
#[cfg(target_arch = "x86_64")]
fn registers(user: &User<'_>) -> Option<(u64, u64, UnwindRegsNative)> {
    let [frame, stack, at] = *user.registers.first_chunk()?;
    Some((at, stack, UnwindRegsNative::new(at, stack, frame)))
}

#[cfg(target_arch = "aarch64")]
fn registers(user: &User<'_>) -> Option<(u64, u64, UnwindRegsNative)> {
    let [frame, back, stack, at] = *user.registers.first_chunk()?;
    Some((at, stack, UnwindRegsNative::new(back, stack, frame)))
}

/// An address within an image, or one that is in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    /// Its place among the images.
    pub(crate) image: Option<usize>,
    /// As the image's file states it.
    pub(crate) address: u64,
}

/// The images and memory maps of all processes that were seen.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) images: Vec<Image>,
    image_of: HashMap<String, usize>,
    /// Processes that were forked from one another share a space.
    spaces: HashMap<Vec<Mapping>, Rc<Space>>,
    processes: HashMap<u32, Known>,
    /// That of the first process: a stand-in for those that ended before they were looked at.
    first: Option<Rc<Space>>,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

struct Known {
    space: Rc<Space>,
    readings: u32,
}

struct Space {
    parts: Vec<Part>,
    unwinder: UnwinderNative<Arc<[u8]>, MayAllocateDuringUnwind>,
}

struct Part {
    start: u64,
    end: u64,
    image: usize,
    bias: u64,
}

impl Memory {
    /// The frames of a process, the innermost first, and whether they reach the start of its thread.
    pub(crate) fn unwind(&mut self, process: u32, user: &User<'_>) -> (Vec<Frame>, bool) {
        let Some((at, stack_pointer, registers)) = registers(user) else {
            return (Vec::new(), false);
        };
        let space = self.space(process, at);
        let mut read = |address: u64| {
            let place =
                usize::try_from(address.checked_sub(stack_pointer).ok_or(())?).map_err(drop)?;
            let bytes = user.stack.get(place..).and_then(|rest| rest.first_chunk()).ok_or(())?;
            Ok(u64::from_ne_bytes(*bytes))
        };
        let mut walk = space.unwinder.iter_frames(at, registers, &mut self.cache, &mut read);
        let mut frames = Vec::new();
        let is_rooted = loop {
            match walk.next() {
                Ok(Some(frame)) if frames.len() < DEEPEST => {
                    frames.push(space.frame(frame.address_for_lookup()));
                }
                Ok(None) | Err(framehop::Error::ReturnAddressIsNull) => break true,
                Ok(Some(_)) | Err(_) => break false,
            }
        };
        (frames, is_rooted)
    }

    /// Reads what a process has in its memory.
    pub(crate) fn learn(&mut self, process: u32) {
        self.space(process, 0);
    }

    /// The memory of a process, read again where it is not known what is at an address.
    fn space(&mut self, process: u32, at: u64) -> Rc<Space> {
        let known = self.processes.get(&process);
        let readings = known.map_or(0, |known| known.readings);
        if let Some(known) = known
            && (readings >= READINGS || known.space.part(at).is_some())
        {
            return Rc::clone(&known.space);
        }
        let mappings = maps::of_process(process);
        let space = match &self.first {
            Some(first) if mappings.is_empty() => Rc::clone(first),
            _ => self.space_of(process, mappings),
        };
        self.first.get_or_insert_with(|| Rc::clone(&space));
        let known = Known { space: Rc::clone(&space), readings: readings + 1 };
        self.processes.insert(process, known);
        space
    }

    fn space_of(&mut self, process: u32, mappings: Vec<Mapping>) -> Rc<Space> {
        if let Some(space) = self.spaces.get(&mappings) {
            return Rc::clone(space);
        }
        let mut space = Space { parts: Vec::new(), unwinder: UnwinderNative::new() };
        for mapping in &mappings {
            let image = self.image(process, mapping);
            let Image { name, tables, .. } = &self.images[image];
            let bias = self.images[image].bias(mapping);
            if let Some(bias) = bias {
                let range = mapping.start..mapping.end;
                space.unwinder.add_module(Module::new(name.clone(), range, bias, tables.clone()));
            }
            let (start, end) = (mapping.start, mapping.end);
            space.parts.push(Part { start, end, image, bias: bias.unwrap_or(start) });
        }
        let space = Rc::new(space);
        self.spaces.insert(mappings, Rc::clone(&space));
        space
    }

    fn image(&mut self, process: u32, mapping: &Mapping) -> usize {
        if let Some(image) = self.image_of.get(&mapping.path) {
            return *image;
        }
        self.images.push(Image::read(process, mapping));
        let image = self.images.len() - 1;
        self.image_of.insert(mapping.path.clone(), image);
        image
    }
}

impl Space {
    fn part(&self, at: u64) -> Option<&Part> {
        let after = self.parts.partition_point(|part| part.start <= at);
        self.parts.get(after.checked_sub(1)?).filter(|part| at < part.end)
    }

    fn frame(&self, at: u64) -> Frame {
        match self.part(at) {
            Some(part) => Frame { image: Some(part.image), address: at.wrapping_sub(part.bias) },
            None => Frame { image: None, address: at },
        }
    }
}
