//! Results of other tools that may hold anything.
//!
//! The first byte of an input chooses the options, the second the kind of file. The rest is the text; a
//! line that is the name of a file and begins with `@` begins a further file.

#![no_main]

use std::hint::black_box;

use import::{About, File, FileKind, Mode, Options, Source};
use libfuzzer_sys::fuzz_target;

/// Options: the numbers that the original tools publish.
const COMPAT: u8 = 1;
/// Options: the host's CPUs are known.
const CPUS: u8 = 2;
/// Options: the system is named.
const NAMED: u8 = 4;
/// Options: the clients are given, and systems stand in the order of their versions.
const CLIENTS: u8 = 8;

fuzz_target!(|input: &[u8]| {
    if let [options, kind, text @ ..] = input {
        read(*options, *kind, &String::from_utf8_lossy(text));
    }
});

fn read(options: u8, kind: u8, text: &str) {
    let files = files(text);
    black_box(files.iter().map(FileKind::of).collect::<Vec<_>>());
    let source = Source {
        kind: FileKind::ALL[usize::from(kind) % FileKind::ALL.len()].0,
        system: (options & NAMED != 0).then(|| "mysql-8.0.44".to_owned()),
        clients: Vec::new(),
        origin: "x.my8044_rel.z12a.pk1".to_owned(),
        files,
    };
    let by_version = options & CLIENTS != 0;
    let options = Options {
        mode: match options & COMPAT {
            0 => Mode::Exact,
            _ => Mode::Compat,
        },
        cpus: (options & CPUS != 0).then_some(8),
        clients: if options & CLIENTS != 0 { vec![4] } else { Vec::new() },
        ..Options::default()
    };
    let about =
        About { name: "fuzz".to_owned(), base: None, source: "fuzz".to_owned(), by_version };
    let sources = [source];
    let Ok(rows) = import::read_all(&sources, &options) else {
        return;
    };
    let _ = black_box(import::published(&sources, &rows, &options));
    if let Ok(run) = import::run(&rows, &about, &options) {
        let steps = run.trials.iter().flat_map(|trial| &trial.steps);
        let mut values = steps.flat_map(|(_, measured)| measured).map(|m| m.value);
        assert!(values.all(f64::is_finite), "a value is not finite");
    }
}

fn files(text: &str) -> Vec<File> {
    let mut files =
        vec![File { origin: "sb.o.scan.range100.pk1.dop1".to_owned(), text: String::new() }];
    for line in text.split_inclusive('\n') {
        match (line.strip_prefix('@'), files.last_mut()) {
            (Some(name), _) => {
                files.push(File { origin: name.trim_end().to_owned(), text: String::new() })
            }
            (None, Some(file)) => file.text.push_str(line),
            (None, None) => {}
        }
    }
    files.retain(|file| !file.text.is_empty());
    files
}
