//! Who says what of a run: backslide, and the rules that others go by, about the same data. Prints Markdown:
//! `referees MEASUREMENTS.jsonl COMPARISONS.json`, where the files are what `backslide export RUN --format jsonl`
//! and `backslide compare RUN --all --format json` print.

mod page;
mod verdict;
mod word;

use std::error::Error;

use verdict::Measurement;

/// The name that a plan gives to the second copy of its base.
const CONTROL: &str = "control";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [measurements, comparisons] = arguments.as_slice() else {
        return Err("usage: referees MEASUREMENTS.jsonl COMPARISONS.json".into());
    };
    let measurements = std::fs::read_to_string(measurements)?;
    let measurements: Vec<Measurement> =
        measurements.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let comparisons = serde_json::from_slice(&std::fs::read(comparisons)?)?;
    let cells = verdict::cells(&measurements, comparisons);
    print(&page::page(&cells, CONTROL));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "that is what it is for")]
fn print(text: &str) {
    print!("{text}");
}
