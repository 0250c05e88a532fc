//! A line of the log: what was acknowledged, to whom, and when.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::str::{FromStr, Split};

use model::Nanos;

use super::Committed;
use crate::StepError;

/// What tells a New-Order or a Payment from others in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Row {
    /// A row of `orders`.
    Order {
        warehouse: u32,
        district: u32,
        order: u32,
    },
    /// A row of `history`; there may be several that are equal.
    Payment {
        warehouse: u32,
        district: u32,
        /// Warehouse, district and number of the customer.
        customer: (u32, u32, u32),
        cents: i64,
    },
}

impl Row {
    /// The row that a transaction left.
    pub(super) fn of(what: &Committed) -> Self {
        match *what {
            Committed::Order {
                warehouse,
                district,
                order,
            } => Self::Order {
                warehouse,
                district,
                order,
            },
            Committed::Payment {
                warehouse,
                district,
                customer,
                cents,
            } => Self::Payment {
                warehouse,
                district,
                customer,
                cents,
            },
        }
    }
}

impl fmt::Display for Row {
    /// For people: `order 3021 of district 4 of warehouse 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order {
                warehouse,
                district,
                order,
            } => write!(
                f,
                "order {order} of district {district} of warehouse {warehouse}"
            ),
            Self::Payment {
                warehouse,
                district,
                customer: (of_warehouse, of_district, number),
                cents,
            } => {
                let (whole, rest) = (cents / 100, cents % 100);
                write!(
                    f,
                    "payment of {whole}.{rest:02} in district {district} of warehouse {warehouse} by \
                     customer {number} of district {of_district} of warehouse {of_warehouse}"
                )
            }
        }
    }
}

/// One acknowledged commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// When it was, on the clock of [`crate::monotonic`].
    pub(super) at: Nanos,
    /// Who was told.
    pub(super) terminal: u32,
    /// What is committed.
    pub(super) row: Row,
}

impl fmt::Display for Record {
    /// The line of the log, its end included.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, terminal, row } = self;
        write!(f, "{} {terminal} ", at.0)?;
        match row {
            Row::Order {
                warehouse,
                district,
                order,
            } => writeln!(f, "order {warehouse} {district} {order}"),
            Row::Payment {
                warehouse,
                district,
                customer: (of_warehouse, of_district, number),
                cents,
            } => writeln!(
                f,
                "payment {warehouse} {district} {of_warehouse} {of_district} {number} {cents}"
            ),
        }
    }
}

impl Record {
    /// The record of a line without its end.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ');
        let at = Nanos(next(&mut fields)?);
        let terminal = next(&mut fields)?;
        let kind = fields.next()?;
        let (warehouse, district) = (next(&mut fields)?, next(&mut fields)?);
        let row = match kind {
            "order" => Row::Order {
                warehouse,
                district,
                order: next(&mut fields)?,
            },
            "payment" => Row::Payment {
                warehouse,
                district,
                customer: (next(&mut fields)?, next(&mut fields)?, next(&mut fields)?),
                cents: next(&mut fields)?,
            },
            _ => return None,
        };
        let record = Self { at, terminal, row };
        fields.next().is_none().then_some(record)
    }
}

fn next<T: FromStr>(fields: &mut Split<'_, char>) -> Option<T> {
    fields.next()?.parse().ok()
}

/// Shows each record of a log, in its order. A last line without its end is no record: who wrote it was
/// killed over it.
pub(super) fn each(path: &Path, see: &mut dyn FnMut(Record)) -> Result<(), StepError> {
    let file = File::open(path).map_err(StepError::log("open", path))?;
    let mut log = BufReader::new(file);
    let mut line = String::new();
    for number in 1_u64.. {
        line.clear();
        log.read_line(&mut line)
            .map_err(StepError::log("read", path))?;
        let Some(whole) = line.strip_suffix('\n') else {
            break;
        };
        let record = Record::parse(whole).ok_or_else(|| {
            let cause = io::Error::other(format!("line {number} is no record: `{whole}`"));
            StepError::log("read", path)(cause)
        })?;
        see(record);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(order: u32) -> Record {
        Record {
            at: Nanos(u64::MAX),
            terminal: 12,
            row: Row::Order {
                warehouse: 1,
                district: 4,
                order,
            },
        }
    }

    fn payment(cents: i64) -> Record {
        Record {
            at: Nanos(1),
            terminal: 0,
            row: Row::Payment {
                warehouse: 1,
                district: 4,
                customer: (2, 5, 1_999),
                cents,
            },
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        for record in [order(3_021), payment(100), payment(499_999)] {
            let line = record.to_string();
            assert_eq!(line.lines().count(), 1);
            let whole = line.strip_suffix('\n').unwrap();
            assert_eq!(Record::parse(whole), Some(record));
            let cut = whole.rsplit_once(' ').unwrap().0;
            assert_eq!(Record::parse(cut), None);
            assert_eq!(Record::parse(&format!("{whole} 1")), None);
        }
        assert_eq!(Record::parse("1 2 delivery 1 4 3021"), None);
        assert_eq!(Record::parse(""), None);
    }

    #[test]
    fn rows_are_told_in_words() {
        let told = |record: Record| record.row.to_string();
        assert_eq!(told(order(7)), "order 7 of district 4 of warehouse 1");
        assert_eq!(
            told(payment(1_205)),
            "payment of 12.05 in district 4 of warehouse 1 by customer 1999 of district 5 of warehouse 2"
        );
    }

    fn read(text: &str) -> Result<Vec<Record>, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        std::fs::write(&path, text).unwrap();
        let mut records = Vec::new();
        each(&path, &mut |record| records.push(record)).map_err(|error| {
            error
                .to_string()
                .replace(&path.display().to_string(), "LOG")
        })?;
        Ok(records)
    }

    #[test]
    fn a_torn_last_line_is_left_out_and_any_other_wrong_line_is_told() {
        let (one, two) = (order(1), payment(2));
        assert_eq!(read(&format!("{one}{two}")).unwrap(), [one, two]);
        let torn = two.to_string();
        assert_eq!(read(&format!("{one}{}", torn.trim_end())).unwrap(), [one]);
        assert_eq!(read("").unwrap(), []);
        let error = read(&format!("{one}1 x\n{two}")).unwrap_err();
        assert_eq!(
            error,
            "cannot read LOG, the log of acknowledged commits: line 2 is no record: `1 x`"
        );
    }
}
