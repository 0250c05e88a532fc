//! CSV: one measurement a line, under a header. `docs/import.md` documents the columns; what
//! `backslide export` writes can be read again.

use std::collections::HashMap;

use model::{Counts, Unit, unguarded};

use crate::file::{FileLine, quote};
use crate::{File, ImportedStep, Options, Result, Rows};

const NEEDED: [&str; 4] = ["system", "step", "metric", "value"];
const OPTIONAL: [&str; 6] = ["unit", "clients", "round", "group", "run", "position"];

/// Reads a file. Measurements of the same system, step, clients and round make one row.
pub(crate) fn rows(file: &File, options: &Options) -> Rows {
    let mut lines = file.lines().filter(|line| !line.text.trim().is_empty());
    let header = lines.next().ok_or_else(|| file.end().wrong("an empty file"))?;
    let columns = columns(header)?;
    let mut rows: Vec<ImportedStep> = Vec::new();
    let mut places = HashMap::new();
    for line in lines {
        let fields = split(line)?;
        line.expect_fields(columns.len(), "", fields.len())?;
        let field = |name: &str| {
            let place = columns.iter().position(|column| column == name)?;
            Some(unguarded(fields[place].trim()).trim()).filter(|text| !text.is_empty())
        };
        let needed = |name: &str| field(name).ok_or_else(|| line.empty(name));
        let (system, step, metric) = (needed("system")?, needed("step")?, needed("metric")?);
        let stated = match field("clients") {
            Some(text) => Some(line.count("clients", text)?),
            None if options.clients.is_empty() => None,
            None => Some(options.clients(line)?),
        };
        let clients = stated.unwrap_or(1);
        let round = field("round").map(|text| line.count("round", text)).transpose()?;
        let value = line.number("value", needed("value")?)?;
        let unit = unit(line, metric, field("unit"))?;
        let key = (system.to_owned(), step.to_owned(), clients, round);
        let place = *places.entry(key).or_insert(rows.len());
        if place == rows.len() {
            // A step of a sweep carries its clients in its name already.
            let test = step.strip_suffix(&format!("@{clients}")).unwrap_or(step);
            let mut row = ImportedStep::new(line, system, test, clients);
            // Where nobody states the clients, the same step in another file may be of another number of them.
            row.round = round.or_else(|| stated.is_none().then_some(1));
            field("group").unwrap_or_default().clone_into(&mut row.group);
            rows.push(row);
        }
        let row = &mut rows[place];
        if row.value(metric).is_some() {
            let place = match round {
                None => ": number the rounds in a column `round`".to_owned(),
                Some(round) => format!(" in round {round}"),
            };
            let (metric, system, step) = (quote(metric), quote(system), quote(step));
            let what = format!("{metric} of {system} in {step} is there a second time{place}");
            return Err(line.wrong(what));
        }
        if metric == "rate" && unit == Unit::RowsPerSecond {
            row.subject.counts = Counts::Rows;
        }
        row.put_at(line.number, metric, unit, value);
    }
    Ok(rows)
}

fn columns(header: FileLine<'_>) -> Result<Vec<String>> {
    let text = header.text.trim_start_matches('\u{feff}');
    let columns = split(FileLine { text, ..header })?;
    let columns: Vec<String> = columns.iter().map(|column| column.trim().to_owned()).collect();
    if let ([_], Some(other)) = (columns.as_slice(), text.chars().find(|c| ";|\t".contains(*c))) {
        let other = if other == '\t' { "a tab".to_owned() } else { format!("`{other}`") };
        return Err(header.wrong(format!("columns must be separated by `,`, not by {other}")));
    }
    let all = || NEEDED.iter().chain(&OPTIONAL);
    for column in &columns {
        if !all().any(|known| known == column) {
            let known: Vec<&str> = all().copied().collect();
            let (column, known) = (quote(column), known.join(", "));
            return Err(header.wrong(format!("unknown column {column}; known columns: {known}")));
        }
    }
    for needed in NEEDED {
        match columns.iter().filter(|column| *column == needed).count() {
            1 => {}
            0 => return Err(header.wrong(format!("the column `{needed}` is missing"))),
            _ => return Err(header.wrong(format!("the column `{needed}` is there twice"))),
        }
    }
    Ok(columns)
}

/// The unit that is written, else that of a metric whose name says it.
fn unit(line: FileLine<'_>, metric: &str, written: Option<&str>) -> Result<Unit> {
    let is_latency = metric.starts_with("service.") || metric.starts_with("response.");
    if let Some(name) = written {
        let unit = Unit::from_name(name).map_err(|units| {
            line.wrong(format!("{} is not a unit: {}", quote(name), units.join(", ")))
        })?;
        // More of a rate is better, less of a time: values that are something else would be judged the wrong way.
        let per_time = [Unit::OpsPerSecond, Unit::RowsPerSecond, Unit::PerMinute];
        if metric == "rate" && !per_time.contains(&unit) {
            return Err(line.wrong(format!("a rate is in ops/s, rows/s or 1/min, not in {name}")));
        }
        if is_latency && unit != Unit::Micros {
            return Err(line.wrong(format!("{} is in µs, not in {name}", quote(metric))));
        }
        return Ok(unit);
    }
    match metric {
        "rate" => Ok(Unit::OpsPerSecond),
        _ if is_latency => Ok(Unit::Micros),
        _ if metric.ends_with("KB/o") => Ok(Unit::KbPerOp),
        _ if metric.ends_with("cpu/o") && !metric.starts_with("compat.") => Ok(Unit::MicrosPerOp),
        _ if metric.ends_with("/o") => Ok(Unit::PerOp),
        _ => {
            let metric = quote(metric);
            Err(line.wrong(format!("which unit is {metric} in? Give it in a column `unit`")))
        }
    }
}

/// The fields of a line, quoted as in RFC 4180; a field does not go over a line's end.
fn split(line: FileLine<'_>) -> Result<Vec<String>> {
    let mut fields = vec![String::new()];
    let mut rest = line.text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = rest.next() {
        let Some(field) = fields.last_mut() else { break };
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            ',' if !quoted => fields.push(String::new()),
            other => field.push(other),
        }
    }
    if quoted {
        return Err(line.wrong("a quoted field without its end"));
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::file;

    #[test]
    fn what_an_export_kept_from_being_a_formula_reads_back() {
        let text = "system,step,metric,value\n'=cmd|' /C calc'!A0,'@a,rate,1\n'b',''=c,rate,2\n";
        let rows = rows(&file("a.csv", text), &Options::default()).unwrap();
        let names = rows.iter().map(|row| (row.system.as_str(), row.test.as_str()));
        assert_eq!(names.collect::<Vec<_>>(), [("=cmd|' /C calc'!A0", "@a"), ("'b'", "'=c")]);
    }

    #[test]
    fn measurements_of_a_step_make_a_row() {
        let text = "run,round,position,system,step,clients,metric,unit,value\n\
            r1,1,1,\"a \"\"b\"\"\",point@8,8,rate,ops/s,100.5\nr1,1,1,\"a \"\"b\"\"\",point@8,8,cs/o,,3\n\
            r1,2,1, a \"b\" ,point@8,8,rate,rows/s,101\n";
        let rows = rows(&file("a.csv", text), &Options::default()).unwrap();
        let shape: Vec<_> = rows
            .iter()
            .map(|row| (row.system.as_str(), row.test.as_str(), row.round, row.clients))
            .collect();
        let one = |round| ("a \"b\"", "point", Some(round), 8);
        assert_eq!(shape, [one(1), one(2)]);
        let first = rows.first().unwrap();
        assert_eq!((first.value("rate"), first.value("cs/o")), (Some(100.5), Some(3.0)));
    }

    #[test]
    fn damage_is_told_with_its_line() {
        let header = "system,step,metric,value";
        let cases = [
            (String::new(), 1, "empty"),
            ("system,step,metric\n".to_owned(), 1, "`value` is missing"),
            (format!("{header},colour\n"), 1, "unknown column `colour`"),
            (header.replace(',', ";"), 1, "separated by `,`, not by `;`"),
            (header.replace(',', "\t"), 1, "separated by `,`, not by a tab"),
            (format!("{header}\na,b,rate,NaN\n"), 2, "must be a number"),
            (format!("{header}\na,b,rate\n"), 2, "4 fields"),
            (format!("{header}\na,b,rate,1\n\na,b,rate,2\n"), 4, "second time: number the rounds"),
            (format!("{header},round\na,b,rate,1,2\na,b,rate,1,2\n"), 3, "second time in round 2"),
            (format!("{header}\na,b,height,1\n"), 2, "which unit is"),
            (format!("{header}\n\"a,b,rate,1\n"), 2, "without its end"),
            (format!("{header},round\na,b,rate,1,0\n"), 2, "from 1 to"),
            (format!("{header},unit\na,b,rate,1,µs\n"), 2, "not in µs"),
            (
                format!("{header},unit\na,b,rate,1,s\n"),
                2,
                "`s` is not a unit: ops/s, rows/s, 1/min, MB/s,",
            ),
            (
                format!("{header},unit\na,b,service.query.p99,1,ops/s\n"),
                2,
                "is in µs, not in ops/s",
            ),
        ];
        for (text, line, what) in cases {
            let error = rows(&file("a.csv", &text), &Options::default()).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.what.contains(what), "{error}");
        }
    }

    #[test]
    fn steps_of_files_that_state_neither_clients_nor_rounds_are_no_rounds() {
        let text = "system,step,metric,value\nmysql-8,a,rate,1\n";
        let one = |options: &Options| rows(&file("a.csv", text), options).unwrap();
        let twice = |options| [one(options), one(options)].concat();
        let unknown = Options::default();
        let error = crate::run::rounds(&twice(&unknown)).unwrap_err();
        assert!(error.what.contains("twice in round 1"), "{error}");
        let known = Options { clients: vec![8], ..Options::default() };
        assert_eq!(crate::run::rounds(&twice(&known)), Ok(vec![1, 2]));
        assert_eq!(one(&known)[0].clients, 8);
    }
}
