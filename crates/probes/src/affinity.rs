//! On which CPUs this process runs.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::{ProbeError, Result};

/// Keeps the calling thread on these CPUs, and every thread that it starts from now on. Call it before
/// the first client starts.
pub fn pin_self(cpus: &[usize]) -> Result<()> {
    let refused = |cause| ProbeError::Affinity { cpus: cpus.to_vec(), allowed: allowed(), cause };
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(refused(std::io::ErrorKind::InvalidInput.into()));
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(|error| refused(error.into()))
}

pub fn allowed() -> Vec<usize> {
    // The call fails on a kernel made for more CPUs than the set holds.
    let Ok(set) = sched_getaffinity(None) else {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        return (0..count).collect();
    };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_pinned_and_the_threads_that_it_starts() {
        let before = allowed();
        let one = vec![*before.last().unwrap()];
        let inherited = std::thread::spawn({
            let one = one.clone();
            move || {
                pin_self(&one).unwrap();
                assert_eq!(allowed(), one);
                std::thread::spawn(allowed).join().unwrap()
            }
        });
        assert_eq!(inherited.join().unwrap(), one);
        assert_eq!(allowed(), before);
    }

    #[test]
    fn cpus_that_are_not_there_are_refused() {
        for cpus in [vec![], vec![CpuSet::MAX_CPU - 1], vec![CpuSet::MAX_CPU]] {
            let error = pin_self(&cpus).unwrap_err();
            let ProbeError::Affinity { cpus: asked, allowed, .. } = error else {
                panic!("{error}");
            };
            assert_eq!(asked, cpus);
            assert!(!allowed.is_empty());
        }
    }
}
