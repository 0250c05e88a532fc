//! How plans and workload files write a distribution: a word, or a table with its shape.

use model::{Distribution, HotValues};

use crate::Result;
use crate::document::{Node, Value};
use crate::fields::{Fields, Item};

/// The shapes that a word alone stands for; those of sysbench.
const WORDS: [(&str, Distribution); 5] = [
    ("uniform", Distribution::Uniform),
    ("zipfian", Distribution::Zipfian { exponent: 800 }),
    ("gaussian", Distribution::Gaussian { draws: 12 }),
    ("pareto", Distribution::Pareto { h: 200 }),
    (
        "special",
        Distribution::Special {
            draws: 12,
            hot_percent: 1,
            draws_percent: 75,
            hot: HotValues::Upper,
        },
    ),
];

/// Uniform draws that a bell is made of, at most: each costs time with every value.
const MAX_DRAWS: u32 = 100;

/// `"uniform"`, `{ zipfian = 0.8 }`, `{ special = { draws = 12, hot_percent = 1, draws_percent = 75 } }`.
pub(crate) fn distribution(item: Item<'_>) -> Result<Distribution> {
    match &item.node.value {
        Value::Text(_) => item.word("distribution", &WORDS),
        Value::Table(_) => shaped(item),
        _ => Err(item.wrong("a distribution such as \"uniform\" or { zipfian = 0.8 }")),
    }
}

fn shaped(item: Item<'_>) -> Result<Distribution> {
    let keys = ["zipfian", "gaussian", "pareto", "special"];
    let fields = Fields::new(item.node, "a distribution", &keys)?;
    let Some(shape) = fields.exactly_one(&keys) else {
        return Err(item.wrong("a table with one distribution such as { zipfian = 0.8 }"));
    };
    match shape.key {
        "zipfian" => Ok(Distribution::Zipfian { exponent: per_mille(shape, 1, 5_000)? }),
        "gaussian" => Ok(Distribution::Gaussian { draws: shape.small(1..=MAX_DRAWS)? }),
        "pareto" => Ok(Distribution::Pareto { h: per_mille(shape, 1, 499)? }),
        _ => special(shape.node),
    }
}

fn special(node: &Node) -> Result<Distribution> {
    let fields = Fields::new(node, "special", &["draws", "hot_percent", "draws_percent"])?;
    let number = |key, range, usual| fields.get(key).map_or(Ok(usual), |item| item.small(range));
    Ok(Distribution::Special {
        draws: number("draws", 1..=MAX_DRAWS, 12)?,
        hot_percent: number("hot_percent", 1..=100, 1)?,
        draws_percent: number("draws_percent", 0..=100, 75)?,
        hot: HotValues::Upper,
    })
}

/// A number with at most three digits after the point, in thousandths.
fn per_mille(item: Item<'_>, low: u32, high: u32) -> Result<u32> {
    item.decimal(3, low..=high).ok_or_else(|| {
        let (low, high) = (f64::from(low) / 1000.0, f64::from(high) / 1000.0);
        item.wrong(&format!(
            "a number from {low} to {high} with at most three digits after the point"
        ))
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::document;

    fn read(text: &str) -> Result<Distribution> {
        let root = document::parse(&format!("by = {text}"), "x").unwrap();
        let fields = Fields::new(&root, "x", &["by"]).unwrap();
        distribution(fields.need("by").unwrap())
    }

    #[test]
    fn a_word_or_a_shape() {
        assert_eq!(read("\"uniform\"").unwrap(), Distribution::Uniform);
        assert_eq!(read("{ zipfian = 0.8 }").unwrap(), read("\"zipfian\"").unwrap());
        assert_eq!(read("{ zipfian = 1 }").unwrap(), Distribution::Zipfian { exponent: 1000 });
        assert_eq!(read("{ special = {} }").unwrap(), read("\"special\"").unwrap());
        assert_eq!(read("{ pareto = 0.125 }").unwrap(), Distribution::Pareto { h: 125 });
    }

    #[test]
    fn what_is_none_is_refused() {
        let error = |text| read(text).unwrap_err().to_string();
        assert_snapshot!(error("\"zipf\""), @"x:1: no distribution `zipf`; there are: uniform, zipfian, gaussian, pareto, special");
        assert_snapshot!(error("{ zipfian = 0.0001 }"), @"x:1: `zipfian` must be a number from 0.001 to 5 with at most three digits after the point, not 0.0001");
        assert_snapshot!(error("{ pareto = 0.5 }"), @"x:1: `pareto` must be a number from 0.001 to 0.499 with at most three digits after the point, not 0.5");
        assert_snapshot!(error("{ zipfian = nan }"), @"x:1: `zipfian` must be a number from 0.001 to 5 with at most three digits after the point, not NaN");
        assert_snapshot!(error("{ gaussian = 0 }"), @"x:1: `gaussian` must be a whole number from 1 to 100, not 0");
        assert_snapshot!(error("{}"), @"x:1: `by` must be a table with one distribution such as { zipfian = 0.8 }, not a table");
        assert_snapshot!(error("{ zipfian = 1, pareto = 0.2 }"), @"x:1: `by` must be a table with one distribution such as { zipfian = 0.8 }, not a table");
        assert_snapshot!(error("3"), @r#"x:1: `by` must be a distribution such as "uniform" or { zipfian = 0.8 }, not 3"#);
    }
}
