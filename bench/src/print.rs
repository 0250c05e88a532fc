//! Everything that a bench prints: tables in Markdown to stdout, progress to stderr.

use std::fmt::Write;
use std::fs;

use anyhow::Result;
use model::Host;

/// A table of `N` columns in Markdown.
#[derive(Clone, Debug)]
pub struct Table<const N: usize> {
    headers: [&'static str; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// A table without rows. The first column is words, the others are numbers.
    pub fn new(headers: [&'static str; N]) -> Self {
        Self { headers, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    /// Prints it to stdout, with a line of text below it where there is something to say.
    pub fn print(&self, below: &str) {
        out(&self.markdown());
        if !below.is_empty() {
            out(&format!("\n{below}\n"));
        }
    }

    fn markdown(&self) -> String {
        let rule = self.headers.iter().enumerate();
        let rule = rule.map(|(place, _)| if place == 0 { "---" } else { "--:" });
        let mut text = String::new();
        let mut line = |cells: Vec<&str>| {
            let _infallible = writeln!(text, "| {} |", cells.join(" | "));
        };
        line(self.headers.to_vec());
        line(rule.collect());
        for row in &self.rows {
            line(row.iter().map(String::as_str).collect());
        }
        text
    }
}

/// Prints the title of a bench, its subject, and the machine with its other load.
pub fn heading(title: &str, measures: &str) -> Result<()> {
    let host = probes::identify(&std::env::temp_dir())?;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(1).collect();
    out(&format!(
        "\n## {title}\n\n{measures}\n\n{}; load average {} before.\n\n",
        machine(&host),
        load.concat()
    ));
    Ok(())
}

fn machine(host: &Host) -> String {
    let virtualization = host.virtualization.as_deref().unwrap_or("no hypervisor");
    format!(
        "{}, {} CPUs, {}, {virtualization}, Linux {}",
        host.cpu_model, host.shape.cpus, host.shape.memory, host.kernel
    )
}

/// `yes` where the goal is reached, else `no`.
pub fn within(reached: bool) -> String {
    if reached { "yes" } else { "no" }.to_owned()
}

#[expect(clippy::print_stdout, reason = "the tables are the result of a bench")]
fn out(text: &str) {
    print!("{text}");
}

/// Reports progress on stderr.
#[expect(clippy::print_stderr, reason = "progress, apart from the result")]
pub fn note(text: &str) {
    eprintln!("{text}");
}

/// The first number after `mark` in what a program printed.
pub fn number_after(text: &str, mark: &str) -> Option<u64> {
    let (_, rest) = text.split_once(mark)?;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_behind_its_mark() {
        assert_eq!(number_after("==1== Collected : 1234 ok", "Collected :"), Some(1234));
        assert_eq!(number_after("Collected : none", "Collected :"), None);
        assert_eq!(number_after("1234", "Collected :"), None);
    }

    #[test]
    fn a_table_is_markdown() {
        let mut table = Table::new(["server", "rows/s"]);
        table.row(["mariadb".to_owned(), "500".to_owned()]);
        assert_eq!(table.markdown(), "| server | rows/s |\n| --- | --: |\n| mariadb | 500 |\n");
    }
}
