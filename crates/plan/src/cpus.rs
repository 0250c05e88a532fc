//! Which CPUs the server and the client use.

use model::Placement;

use crate::PlanError;
use crate::fields::{Fields, Item};

/// More than any machine has; keeps a slip of the pen from becoming a huge mask.
const MAX_CPU: u32 = 8_191;

/// Reads `{ server = "0-3", client = "4" }`; a side that is left out uses all CPUs.
pub(crate) fn placement(item: &Item<'_>) -> Result<Placement, PlanError> {
    let fields = Fields::new(item.node, "cpus", &["server", "client"])?;
    let side = |key| fields.get(key).map(|item| list(&item)).transpose();
    Ok(Placement {
        server: side("server")?.unwrap_or_default(),
        client: side("client")?.unwrap_or_default(),
    })
}

fn list(item: &Item<'_>) -> Result<String, PlanError> {
    let text = item.text()?;
    if text.split(',').all(is_range) {
        Ok(text.to_owned())
    } else {
        Err(item.wrong("a list of CPUs such as \"0-3,8\""))
    }
}

fn is_range(text: &str) -> bool {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    let cpu = |text: &str| {
        text.trim()
            .parse::<u32>()
            .ok()
            .filter(|cpu| *cpu <= MAX_CPU)
    };
    matches!((cpu(low), cpu(high)), (Some(low), Some(high)) if low <= high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_cpus() {
        for good in ["0", "0-3", "7-7", " 1 - 2 "] {
            assert!(is_range(good), "{good}");
        }
        for bad in ["", "-", "3-1", "a", "1-", "0-99999", "1-2-3"] {
            assert!(!is_range(bad), "{bad}");
        }
    }
}
