//! Finds the change points of series that come on stdin, for `bench/changepoint.sh`:
//! `change_points MARGIN < SERIES`.
//!
//! A line is `CAMPAIGN <tab> SERIES <tab> VALUE VALUE …`; the series of a campaign follow each other and
//! are a family. For each change a line is printed: campaign, series, place from 0, `up` or `down`.
#![expect(clippy::print_stdout, reason = "what it finds is its output")]

use std::error::Error;
use std::io::stdin;

use stats::{Series, analyse};

fn main() -> Result<(), Box<dyn Error>> {
    let margin: f64 = std::env::args().nth(1).ok_or("which margin?")?.parse()?;
    let lines: Vec<String> = stdin().lines().collect::<Result<_, _>>()?;
    let rows: Vec<Vec<&str>> = lines.iter().map(|line| line.split('\t').collect()).collect();
    for campaign in rows.chunk_by(|a, b| a.first() == b.first()) {
        let series: Vec<Series> =
            campaign.iter().map(|row| series(row, margin)).collect::<Result<_, _>>()?;
        for (row, found) in campaign.iter().zip(analyse(&series)) {
            for change in found.changes {
                let direction = if change.ratio > 1.0 { "up" } else { "down" };
                println!("{}\t{}\t{}\t{direction}", row[0], row[1], change.at);
            }
        }
    }
    Ok(())
}

fn series(row: &[&str], margin: f64) -> Result<Series, Box<dyn Error>> {
    let values = row.get(2).ok_or("a line has three fields")?.split(' ');
    let logs = values.map(|value| Ok(vec![value.parse::<f64>()?.ln()]));
    Ok(Series {
        builds: logs.collect::<Result<_, Box<dyn Error>>>()?,
        margin: margin.ln_1p(),
        ..Series::default()
    })
}
