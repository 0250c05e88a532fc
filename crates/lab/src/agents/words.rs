//! What a process writes to standard error, for when it has ended.

use std::io::Read;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use load::lock;

/// How long we wait for the rest. A process that `ssh` left in the background may never close its output.
const WAIT: Duration = Duration::from_secs(2);

/// The last bytes are kept: why a process ended comes after banners.
const MOST: usize = 4 << 10;

pub(super) struct LastWords {
    tail: Arc<Mutex<Vec<u8>>>,
    /// Disconnected at the end.
    rest: Receiver<()>,
}

impl LastWords {
    pub(super) fn of(errors: Option<impl Read + Send + 'static>) -> Self {
        let tail = Arc::new(Mutex::new(Vec::new()));
        let (reads, rest) = mpsc::channel();
        let kept = Arc::clone(&tail);
        thread::spawn(move || {
            let _reads: mpsc::Sender<()> = reads;
            if let Some(errors) = errors {
                keep_tail(errors, &kept);
            }
        });
        Self { tail, rest }
    }

    /// In one line.
    pub(super) fn get(&self) -> String {
        let _ = self.rest.recv_timeout(WAIT);
        let tail = lock(&self.tail).clone();
        let text = String::from_utf8_lossy(&tail);
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

fn keep_tail(mut from: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut chunk = [0; MOST];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        let mut tail = lock(tail);
        tail.extend_from_slice(&chunk[..count]);
        let too_many = tail.len().saturating_sub(MOST);
        tail.drain(..too_many);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};

    use super::*;

    #[test]
    fn the_last_words_follow_a_long_banner_and_an_open_output() {
        let (reads, mut writes) = pipe().unwrap();
        let words = LastWords::of(Some(reads));
        for _ in 0..1_000 {
            writes.write_all(b"Only for members of the institute.\n").unwrap();
        }
        writes.write_all(b"Permission denied (publickey).\n").unwrap();
        let said = words.get();
        assert!(said.ends_with("; Permission denied (publickey)."), "{said}");
        assert!(said.len() < 2 * MOST);
        drop(writes);
    }
}
