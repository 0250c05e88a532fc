//! The tables that the scripts around sysbench make: queries per second and cost per operation.

pub mod met;
pub mod qps;

use crate::ImportedStep;

/// The heading under which the published tables list a test; by parts of its name, as there.
pub fn group_of(test: &str) -> &'static str {
    let has = |part: &str| test.contains(part);
    if test == "prepare" {
        ""
    } else if has("point") {
        "point"
    } else if ["delete", "insert", "update", "write"].iter().any(|part| has(part)) {
        "write"
    } else if has("read-only") || has("read_only") {
        "range-aggregate"
    } else {
        "range"
    }
}

/// The system of a directory of results: `x.my8044_rel_o2nofp.z12a_c8r32.pk1` without what is not its name.
pub fn system_of_directory(name: &str) -> &str {
    let name = name.strip_prefix("x.").unwrap_or(name);
    match name.rsplit_once(".pk") {
        Some((system, number)) if number.bytes().all(|b| b.is_ascii_digit()) => system,
        Some(_) | None => name,
    }
}

/// The systems of rows, in order of their first appearance.
pub(crate) fn systems(rows: &[ImportedStep]) -> Vec<&str> {
    in_order(rows.iter().map(|row| row.system.as_str()))
}

/// The tests of rows, in order of their first appearance.
pub(crate) fn tests(rows: &[ImportedStep]) -> Vec<&str> {
    in_order(rows.iter().map(|row| row.test.as_str()))
}

fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// The first value of a metric for a system and test; rows have one number of clients and one round.
pub(crate) fn value(rows: &[ImportedStep], system: &str, test: &str, metric: &str) -> Option<f64> {
    let mut rows = rows.iter().filter(|row| row.system == system && row.test == test);
    rows.find_map(|row| row.value(metric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_have_the_published_groups() {
        let table = [
            ("hot-points_range=100", "point"),
            ("update-inlist_range=100", "write"),
            ("read-write_range=10", "write"),
            ("read-only-count_range=1000", "range-aggregate"),
            ("oltp_read_only", "range-aggregate"),
            ("range-covered-pk_range=100", "range"),
            ("scan_range=100", "range"),
            ("prepare", ""),
        ];
        for (test, group) in table {
            assert_eq!(group_of(test), group, "{test}");
        }
    }

    #[test]
    fn a_directory_names_its_system() {
        let name = "x.my8044_rel_o2nofp.z12a_c8r32.pk1";
        assert_eq!(system_of_directory(name), "my8044_rel_o2nofp.z12a_c8r32");
        assert_eq!(system_of_directory("mysql-8.0.31"), "mysql-8.0.31");
        assert_eq!(system_of_directory("a.pkg"), "a.pkg");
    }
}
