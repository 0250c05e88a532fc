//! Measurements for programs.

use std::borrow::Cow;
use std::fmt::Write;

use model::RunData;

use crate::format;

/// One measurement a line under a header line: `run,round,position,system,step,clients,metric,unit,value`.
/// Fields are quoted as in RFC 4180 where they need it; lines end in a line feed alone. Values are the
/// shortest text that reads back as the same number.
pub fn csv(data: &RunData) -> String {
    let mut text = String::from("run,round,position,system,step,clients,metric,unit,value\n");
    let run = quoted(&data.info.id.0);
    for cell in &data.cells {
        let _infallible = writeln!(
            text,
            "{run},{},{},{},{},{},{},{},{}",
            cell.round,
            cell.position,
            quoted(&cell.system),
            quoted(&cell.step.0),
            cell.clients,
            quoted(&cell.metric.0),
            cell.unit.name(),
            format::exact(cell.value),
        );
    }
    text
}

fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(field)
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn quotes_only_where_needed() {
        assert_eq!(quoted("plain µs/op"), "plain µs/op");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quoted("two\nlines"), "\"two\nlines\"");
    }
}
