//! What the name of a file of raw output says: `sb.met.point-query.range100.pk1.dop1`.

/// A test, by the name of its files. Orders as file names do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// As the published tables label it: `point-query_range=100`; `prepare` for the load.
    pub test: String,
    /// Clients, where the name says it.
    pub clients: Option<u32>,
}

impl Name {
    /// The kind of file (`o`, `met`, `vm`, `io`, …) and the test; `None` for other files.
    pub fn of(file: &str) -> Option<(&str, Self)> {
        let rest = file.strip_prefix("sb.")?;
        if let Some(prepare) = rest.strip_prefix("prepare.") {
            // The load prints no result of its own; the original has its rate from elsewhere.
            let kind = prepare.split('.').next().filter(|kind| *kind == "met")?;
            let test = "prepare".to_owned();
            let clients = Some(1);
            return Some((kind, Self { test, clients }));
        }
        let (kind, rest) = rest.split_once('.')?;
        let (test, numbers) = rest.rsplit_once(".range")?;
        let mut numbers = numbers.split('.');
        let range: u64 = numbers.next()?.parse().ok()?;
        let clients = match numbers.find_map(|part| part.strip_prefix("dop")) {
            Some(dop) => Some(dop.parse().ok().filter(|dop| *dop > 0)?),
            None => None,
        };
        let test = format!("{test}_range={range}");
        Some((kind, Self { test, clients }))
    }

    /// Is it a scan, whose rate is in thousand rows?
    pub fn is_scan(&self) -> bool {
        self.test.starts_with("scan")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_test_and_clients() {
        let table = [
            (
                "sb.met.point-query.range100.pk1.dop1",
                Some(("met", "point-query_range=100", Some(1))),
            ),
            (
                "sb.o.points-covered-si.warm.range100.pk1.dop40",
                Some(("o", "points-covered-si.warm_range=100", Some(40))),
            ),
            ("sb.prepare.met.point-query.warm.range100.pk1", Some(("met", "prepare", Some(1)))),
            ("sb.r.qps.point-query.range100.pk1", Some(("r", "qps.point-query_range=100", None))),
            ("sb.prepare.o.point-query.warm.range100.pk1", None),
            ("sb.o.x.range.pk1", None),
            ("sb.o.x.range10.dop0", None),
            ("notes.txt", None),
            ("sb.", None),
        ];
        for (file, expected) in table {
            let name = Name::of(file);
            let seen = name.as_ref().map(|(kind, n)| (*kind, n.test.as_str(), n.clients));
            assert_eq!(seen, expected, "{file}");
        }
    }
}
