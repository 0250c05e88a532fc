//! The arguments of a bench.

use anyhow::Result;

use crate::note;

/// A measurement and the name by which it is asked for.
pub type Measurement = (&'static str, fn() -> Result<()>);

/// Was the bench asked for? `cargo bench` says so; `cargo test --all-targets`, which starts the
/// benches too, does not.
pub fn is_asked_for() -> bool {
    let asked = std::env::args().any(|argument| argument == "--bench");
    if !asked {
        note("not run: this is a bench; use bench/run.sh");
    }
    asked
}

/// The arguments after `mode`, where the bench has started its own program again with it.
pub fn arguments_of(mode: &str) -> Option<Vec<String>> {
    let mut arguments = std::env::args().skip(1);
    let is_mode = arguments.next().is_some_and(|first| first == mode);
    is_mode.then(|| arguments.collect())
}

/// The arguments of a bench that needs so many, as its `usage` says; `None` where it was not asked for, or with
/// others. It has said so then.
pub fn arguments<const N: usize>(usage: &str) -> Option<[String; N]> {
    if !is_asked_for() {
        return None;
    }
    let arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let arguments: Vec<String> = arguments.collect();
    let arguments: Option<[String; N]> = arguments.try_into().ok();
    if arguments.is_none() {
        note(&format!("usage: {usage}"));
    }
    arguments
}

/// Does the measurements that the arguments name, in their own order; all where none is named.
pub fn measure(measurements: &[Measurement]) -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for (name, measure) in measurements {
        if is_wanted(&arguments, name) {
            measure()?;
        }
    }
    Ok(())
}

/// Is this measurement named, or none?
fn is_wanted(arguments: &[String], name: &str) -> bool {
    let mut named = arguments.iter().filter(|a| !a.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|argument| argument == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_wanted_and_all_where_nothing_is() {
        let wanted = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
            ["load", "cpu", "ten"].map(|name| is_wanted(&arguments, name))
        };
        assert_eq!(wanted(&[]), [true; 3]);
        assert_eq!(wanted(&["--bench"]), [true; 3]);
        assert_eq!(wanted(&["ten", "--bench", "load"]), [true, false, true]);
        assert_eq!(wanted(&["--bench", "disk"]), [false; 3]);
    }
}
