//! Storage reads and writes of the server's processes.

use model::{Counter, Readings};

use crate::carry::Floors;
use crate::error::ProbeError;
use crate::probe::{Detail, Probe};
use crate::read::{found, number, text, unless_vanished};
use crate::tree::Tree;

/// Reads `/proc/PID/io`: a probe of its own, because only the server's owner and root may. What a
/// reaped child did is in its parent's numbers, so that the sum over the living is the whole.
pub(crate) struct ServerIoProbe {
    tree: Tree,
    floors: Floors,
}

impl ServerIoProbe {
    pub(crate) fn new(pid: u32) -> Self {
        Self { tree: Tree::new(pid), floors: Floors::default() }
    }
}

impl Probe for ServerIoProbe {
    fn name(&self) -> &'static str {
        "server-io"
    }

    fn read(&mut self, detail: Detail) -> Result<Readings, ProbeError> {
        let mut sum = Traffic::default();
        for process in self.tree.read(detail)? {
            let path = format!("/proc/{}/io", process.pid);
            if let Some(io) = unless_vanished(text(&path))? {
                let traffic = found(parse_io(&io), &path, "read_bytes and write_bytes")?;
                sum.read += traffic.read;
                sum.written += traffic.written;
            }
        }
        let mut readings = Readings::default();
        self.floors.total(&mut readings, Counter::SERVER_READ, sum.read);
        self.floors.total(&mut readings, Counter::SERVER_WRITTEN, sum.written);
        Ok(readings)
    }
}

/// Bytes that a process caused to be moved from and to storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traffic {
    read: u64,
    written: u64,
}

fn parse_io(text: &str) -> Option<Traffic> {
    Some(Traffic { read: number(text, "read_bytes")?, written: number(text, "write_bytes")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_not_confused_with_calls_or_cancelled_writes() {
        let io = "rchar: 6976\nwchar: 11\nsyscr: 10\nsyscw: 3\nread_bytes: 40960\nwrite_bytes: 8192\n\
            cancelled_write_bytes: 4096\n";
        assert_eq!(parse_io(io), Some(Traffic { read: 40960, written: 8192 }));
        assert_eq!(parse_io("rchar: 1\nread_bytes: 2\n"), None);
    }
}
