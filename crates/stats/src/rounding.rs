//! Output of other tools is as exact as its last digit.

use std::collections::HashMap;

use model::{Cell, MetricId, RunData, StepId, Unit};

use crate::grid::Round;
use crate::paired::sum;

/// Digits of a double that mean something, after a division or two.
const SIGNIFICANT: usize = 12;

/// The last digit of the values of an imported run.
///
/// Published values are rounded, often to two or three digits, and three rounds that all say 0.009 agree in
/// nothing but these. Values measured here have all the digits of a double.
#[derive(Default)]
pub(crate) struct Rounding<'a> {
    /// By metric, round and value. Two of the same value in a round have the coarser of their digits.
    digits: HashMap<Value<'a>, f64>,
}

type Value<'a> = (&'a MetricId, u32, u64);

impl<'a> Rounding<'a> {
    pub(crate) fn of(data: &'a RunData) -> Self {
        let mut rounding = Self::default();
        if !data.info.is_imported() {
            return rounding;
        }
        let printed = Printed::of(data);
        for cell in &data.cells {
            let value = (&cell.metric, cell.round, cell.value.to_bits());
            let digit = rounding.digits.entry(value).or_default();
            *digit = digit.max(printed.digit(cell));
        }
        rounding
    }

    /// The standard error that rounding alone leaves to the mean log ratio of these rounds, none of whose
    /// values is zero; zero where nothing was rounded.
    ///
    /// A rounded value is off by anything up to half of its last digit, which has the variance of that digit
    /// squared over 12 (Sheppard 1898, *On the calculation of the most probable values of
    /// frequency-constants*, Proc. London Math. Soc. 29). Values that differ by less than the digit are off
    /// by the same in every round, so that more rounds do not make it less.
    pub(crate) fn error(&self, metric: &MetricId, rounds: &[Round]) -> f64 {
        let of = |round: &Round, value: f64| self.variance(metric, round.number, value);
        let variances = rounds.iter().map(|r| of(r, r.base) + of(r, r.candidate));
        let variances: Vec<f64> = variances.collect();
        (sum(&variances) / rounds.len() as f64).sqrt()
    }

    /// The variance that rounding adds to the logarithm of one value; zero if it was not rounded.
    pub(crate) fn variance(&self, metric: &MetricId, round: u32, value: f64) -> f64 {
        let digit = self.digits.get(&(metric, round, value.to_bits()));
        digit.map_or(0.0, |digit| (digit / value).powi(2) / 12.0)
    }
}

/// The printed numbers, as far as values show them.
///
/// Import scales some values and divides others, which moves the last digit or hides it: reads per operation
/// are 2 reads a second by 6886 operations. Multiplied again they are 2, and as exact as that. A value that
/// was printed as it is looks exact when it is multiplied by a rate, so the coarser reading is the right one.
struct Printed<'a> {
    /// Rates and inserted rows, by round, system and step.
    beside: HashMap<(u32, &'a str, &'a StepId, &'a str), &'a Cell>,
    cpus: f64,
    /// The finest last digit of a reading, as a power of ten; whoever prints a metric prints all of it alike,
    /// but for zeros at the end.
    finest: HashMap<Reading<'a>, i32>,
}

/// Metric, the unit of the rate beside it (costs of scans are divided by thousands of rows), which of the readings.
type Reading<'a> = (&'a MetricId, Option<Unit>, usize);

const RATE: &str = MetricId::RATE;
const INSERTED: &str = "rows.insert";

impl<'a> Printed<'a> {
    fn of(data: &'a RunData) -> Self {
        let of_trial = data.cells.iter().filter_map(|cell| {
            let metric = cell.metric.0.as_str();
            let place = (cell.round, cell.system.as_str(), &cell.step, metric);
            [RATE, INSERTED].contains(&metric).then_some((place, cell))
        });
        let mut printed = Self {
            beside: of_trial.collect(),
            cpus: f64::from(data.info.host.shape.cpus),
            finest: HashMap::new(),
        };
        for cell in &data.cells {
            for (reading, factor) in printed.readings(cell) {
                if let Some(power) = last_digit(cell.value / factor) {
                    let finest = printed.finest.entry(reading).or_insert(power);
                    *finest = power.min(*finest);
                }
            }
        }
        printed
    }

    fn digit(&self, cell: &'a Cell) -> f64 {
        let digits = self.readings(cell).filter_map(|(reading, factor)| {
            // Zeros before the point are digits like others: a writer kept its 100 rows a second.
            let power = self.finest.get(&reading)?.min(&0);
            Some(10.0_f64.powi(*power) * factor)
        });
        digits.fold(0.0, f64::max)
    }

    /// The conversions from printed numbers to values, with their factors.
    fn readings(&self, cell: &'a Cell) -> impl Iterator<Item = (Reading<'a>, f64)> + use<'a> {
        let beside = |metric: &'a str| {
            self.beside.get(&(cell.round, cell.system.as_str(), &cell.step, metric)).copied()
        };
        let rate = beside(RATE);
        let per_op = rate.map(|rate| 1.0 / rate.value);
        let inserted = beside(INSERTED).map(|cell| cell.value);
        // Per cent of a machine, in microseconds of CPU time each second.
        let percent = self.cpus * 10_000.0;
        let factors = match cell.metric.0.as_str() {
            "cpu/o" => [Some(percent), per_op.map(|each| percent * each)],
            "wKB/o" => [inserted.zip(per_op).map(|(rows, each)| rows * each), None],
            "sla.insert" => [inserted.map(|rows| cell.value / rows), None],
            other if other.ends_with("/o") => [per_op, None],
            // Seconds; milliseconds are decimals of these.
            _ if cell.unit == Unit::Micros => [Some(1e6), None],
            _ => [None, None],
        };
        let [first, second] = factors;
        let unit = rate.map(|rate| rate.unit);
        let factors = [Some(1.0), first, second].into_iter().enumerate();
        factors.filter_map(move |(number, factor)| {
            let factor = factor.filter(|factor| factor.is_finite() && *factor > 0.0)?;
            Some(((&cell.metric, unit, number), factor))
        })
    }
}

/// The place of the last digit that is not zero, as a power of ten; `None` for zero, which has none.
fn last_digit(value: f64) -> Option<i32> {
    if !value.is_finite() || value == 0.0 {
        return None;
    }
    let text = format!("{:.*e}", SIGNIFICANT - 1, value.abs());
    let (mantissa, exponent) = text.split_once('e')?;
    let decimals = mantissa.trim_end_matches('0').split_once('.')?.1.len();
    Some(exponent.parse::<i32>().ok()? - i32::try_from(decimals).ok()?)
}

#[cfg(test)]
mod tests;
