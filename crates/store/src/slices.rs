//! The values of a metric in the slices of a step: 64-bit floats, lowest byte first, one after the other. A slice in
//! which nothing ended has no number (NaN) and counts in the next one.

use model::{SliceSeries, SliceValue};
use rusqlite::{Connection, params};

use crate::Store;
use crate::error::{Fault, Result};
use crate::load::finished::FinishedStep;
use crate::read::blob;
use crate::write::{StepRowId, still_there};

const VALUE: usize = size_of::<f64>();

impl Store {
    pub fn add_slices(&mut self, step: StepRowId, series: &[SliceSeries]) -> Result<()> {
        self.write("saving the slices of a step", |change| {
            let mut insert = change.prepare_cached(
                "INSERT INTO slice (step, metric, series) SELECT id, ?2, ?3 FROM step WHERE id = ?1",
            )?;
            for one in series {
                let saved = insert.execute(params![step.0, one.metric.0, encode(&one.values)])?;
                still_there(saved, "step")?;
            }
            Ok(())
        })
    }
}

pub(crate) fn slices(state: &Connection, step: &FinishedStep) -> Result<Vec<SliceValue>, Fault> {
    let mut slices = Vec::new();
    let mut query =
        state.prepare_cached("SELECT metric, series FROM slice WHERE step = ?1 ORDER BY metric")?;
    let mut rows = query.query([step.id])?;
    while let Some(row) = rows.next()? {
        let metric = model::MetricId(row.get(0)?);
        let values = decode(blob(row, 1)?)
            .ok_or_else(|| step.damaged("the slices of", &"they end in the middle of a value"))?;
        let values = (0..).zip(values).filter(|(_, value)| !value.is_nan());
        slices.extend(values.map(|(pair, value)| SliceValue {
            round: step.round,
            system: step.system.clone(),
            step: step.name.clone(),
            metric: metric.clone(),
            pair,
            value,
        }));
    }
    Ok(slices)
}

fn encode(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// `None` where the last value is cut short.
fn decode(packed: &[u8]) -> Option<Vec<f64>> {
    let (values, rest) = packed.as_chunks::<VALUE>();
    let values = values.iter().map(|bytes| f64::from_le_bytes(*bytes));
    rest.is_empty().then(|| values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_to_the_last_bit() {
        let values = [0.1 + 0.2, 1e-300, f64::MAX];
        let packed = encode(&values);
        assert_eq!(decode(&packed).unwrap(), values);
        assert_eq!(decode(&[]).unwrap(), [0.0; 0]);
        assert!(decode(&packed[1..]).is_none());
    }
}
