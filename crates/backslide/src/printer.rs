//! Everything printed for people goes through here: it knows colour, width and `--quiet`, and what a terminal
//! must not get.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result, anyhow};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use report::{pretty_json, printable};
use serde::Serialize;

use crate::wrap;

/// Width where the terminal does not tell one.
const USUAL_WIDTH: u16 = 100;

/// Width of the live line where the terminal does not tell one.
const NARROW: u16 = 80;

/// Why a result could not be written to stdout: the first time only, because what follows is missing too.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Has a result been printed?
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Prints results to stdout, all else to stderr. A reader that went away (`| head`) is no error; any other failure
/// is remembered until the verb has ended: [`Printer::check`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    quiet: bool,
}

#[expect(
    clippy::unused_self,
    reason = "what may print is given a printer, whether or not that kind of text depends on it"
)]
impl Printer {
    pub(crate) const fn new(quiet: bool) -> Self {
        Self { quiet }
    }

    pub(crate) const fn is_quiet(self) -> bool {
        self.quiet
    }

    pub(crate) fn result(self, text: &str) {
        self.styled(&printable(text));
    }

    /// A result with styles of ours in it: what comes from elsewhere has been made [printable] before.
    pub(crate) fn styled(self, text: &str) {
        // The empty line before a table sets it apart from what stands above it.
        let has_begun = BEGUN.swap(true, Ordering::Relaxed);
        let text = if has_begun { text } else { text.trim_start_matches('\n') };
        remember(writeln!(anstream::stdout(), "{text}"));
    }

    /// A result as it is, without a line end added: files to stdout.
    pub(crate) fn raw(self, bytes: &[u8]) {
        let mut stdout = io::stdout();
        remember(stdout.write_all(bytes).and_then(|()| stdout.flush()));
    }

    pub(crate) fn json(self, value: &impl Serialize) {
        self.raw(pretty_json(value).as_bytes());
    }

    /// Was all written that was to go to stdout?
    pub(crate) fn check(self) -> Result<()> {
        match FAILED.get() {
            None => Ok(()),
            Some(error) => Err(anyhow!("{error}")).context("cannot write to stdout"),
        }
    }

    pub(crate) fn note(self, text: &str) {
        if !self.quiet {
            let _reader_gone = writeln!(anstream::stderr(), "{}", printable(text));
        }
    }

    pub(crate) fn error(self, error: &anyhow::Error) {
        let bold = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let message = printable(&error.to_string());
        let _reader_gone = writeln!(anstream::stderr(), "{bold}error:{bold:#} {message}");
        for cause in error.chain().skip(1) {
            let cause = printable(&cause.to_string());
            let _reader_gone = writeln!(anstream::stderr(), "  because {cause}");
        }
    }

    /// A result in sentences: wrapped where the width is known, each on one line where it is not, so
    /// that another program finds it whole.
    pub(crate) fn prose(self, text: &str) {
        self.result(&self.wrapped(text));
    }

    /// A text as [`Printer::prose`] prints it.
    pub(crate) fn wrapped(self, text: &str) -> String {
        self.known_width()
            .map_or_else(|| text.to_owned(), |width| wrap::prose(text, usize::from(width)))
    }

    /// Columns of the terminal that stdout goes to.
    pub(crate) fn width(self) -> u16 {
        self.known_width().unwrap_or(USUAL_WIDTH)
    }

    /// A live line on stderr, with so many steps where that is known; hidden where it would be in the way.
    pub(crate) fn live_line(self, length: Option<u64>) -> ProgressBar {
        let target =
            if self.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(length, target);
        if let Ok(style) = ProgressStyle::with_template("{prefix:.bold} {wide_msg}") {
            bar.set_style(style);
        }
        bar
    }

    /// Columns of the terminal that stderr goes to, where the live line is.
    pub(crate) fn live_width(self) -> u16 {
        rustix::termios::tcgetwinsize(io::stderr())
            .ok()
            .map(|size| size.ws_col)
            .filter(|columns| *columns > 0)
            .unwrap_or(NARROW)
    }

    fn known_width(self) -> Option<u16> {
        rustix::termios::tcgetwinsize(io::stdout())
            .ok()
            .map(|size| size.ws_col)
            .or_else(|| std::env::var("COLUMNS").ok()?.parse().ok())
            .filter(|columns| *columns > 20)
    }
}

/// Keeps the first failure, unless it is that of a reader that went away.
fn remember(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _first = FAILED.set(error);
    }
}
