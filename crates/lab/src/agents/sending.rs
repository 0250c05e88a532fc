//! What an agent is sent: requests, and signs of life between them.

use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Writes lines as they come, and `sign` when none has come for so long, until nobody has more or nobody reads.
pub(super) fn send(lines: &Receiver<Vec<u8>>, mut to: impl Write, sign: &[u8], every: Duration) {
    loop {
        let sent = match lines.recv_timeout(every) {
            Ok(line) => to.write_all(&line),
            Err(RecvTimeoutError::Timeout) => to.write_all(sign),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if sent.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, pipe};
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn signs_of_life_come_between_requests_until_the_end() {
        let (reads, writes) = pipe().unwrap();
        let (tell, lines) = mpsc::channel();
        let sends =
            thread::spawn(move || send(&lines, writes, b"alive\n", Duration::from_millis(10)));
        let mut heard = BufReader::new(reads).lines().map(Result::unwrap);
        assert_eq!(heard.next().unwrap(), "alive");
        tell.send(b"request\n".to_vec()).unwrap();
        assert!(heard.any(|line| line == "request"));
        assert_eq!(heard.next().unwrap(), "alive");
        drop(tell);
        sends.join().unwrap();
        assert!(heard.all(|line| line == "alive"), "the output is closed");
    }
}
