//! Published numbers, small enough to stand here: they are read, derived and compared to the last digit.
//! `published.rs` does the same with the whole of what was published, where that is at hand.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod groups;

use import::insert::{Colour, colours};
use import::round::fixed;
use import::tables::{group_of, qps};
use import::{File, FileKind, ImportedStep, Mode, Options, Source, published, read};

use groups::group_ratios;

fn compat() -> Options {
    Options { mode: Mode::Compat, ..Options::default() }
}

fn source(name: &str, text: &str) -> Source {
    let file = File { origin: name.to_owned(), text: text.to_owned() };
    Source {
        kind: FileKind::of(&file).unwrap(),
        system: None,
        clients: vec![1],
        origin: name.to_owned(),
        files: vec![file],
    }
}

/// The Insert Benchmark of January 2021, 20 million rows: the cells of its summary and their colours.
const SUMMARY: &str = "\
my5649 139860 green 107487 red 42373 green 6886 . 6938 . 7470 green 7673 green 6961 green 7227 green
my5731 126582 green 160800 . 38610 . 7238 green 7210 green 7185 green 7175 green 7060 green 7098 green
my8021 84388 red 155814 . 28490 red 6260 . 6205 . 6235 . 6220 . 6200 . 6157 .
my8022 85106 red 152273 red 28902 red 6231 . 6208 . 6209 . 6172 . 6132 . 6046 .
pg1110 103093 . 300000 green 40733 green 7261 green 7278 green 7260 green 7258 green 7229 green 7231 green
pg124 103093 . 295588 green 39216 . 7611 green 7616 green 7596 green 7626 green 7628 green 7634 green
pg131 105820 . 300000 green 39062 . 7680 green 7738 green 7733 green 7655 green 7682 green 7744 green
rx56 103093 . 114857 red 43290 green 5149 red 5123 red 5140 red 5104 red 5086 red 5071 red
rx80 81967 red 108064 red 36364 . 4743 red 4715 red 4721 red 4690 red 4700 red 4667 red";

#[test]
fn every_cell_of_a_published_summary_has_its_colour() {
    let lines: Vec<Vec<&str>> =
        SUMMARY.lines().map(|line| line.split(' ').skip(1).collect()).collect();
    let steps = lines.first().unwrap().len() / 2;
    let mut seen = 0;
    for step in 0..steps {
        // All writers of that report kept their rate.
        let cells = lines.iter().map(|line| (line[2 * step].parse().unwrap(), true));
        let cells: Vec<(f64, bool)> = cells.collect();
        for (line, colour) in lines.iter().zip(colours(&cells)) {
            let word = match colour {
                Colour::Lowest => "red",
                Colour::Highest => "green",
                Colour::MissedSla => "grey",
                Colour::Plain => ".",
            };
            assert_eq!(word, line[2 * step + 1], "step {step}: {line:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 81);
}

/// What was published of global transaction ids on a small machine: cost per operation, and ratios.
const COSTS: &str = "\
sb.met.update-index.range100.pk1.dop1
--- absolute
cpu/o\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms
0.006254\t11.142\t0\t0\t46.255\t3430\tx.my8044_rel.z12a.pk1
0.006042\t10.925\t0\t0\t44.755\t3560\tx.my9500_rel.z13a_gtid.pk1
--- relative to first result
0.97\t0.98\t1\t1\t0.97\t1.04\tx.my9500_rel.z13a_gtid.pk1

sb.met.insert.range100.pk1.dop1
--- absolute
cpu/o\tcs/o\tr/o\trKB/o\twKB/o\to/s\tdbms
0.001593\t3.950\t0\t0\t4.307\t8201\tx.my8044_rel.z12a.pk1
0.001755\t5.715\t0\t0\t5.015\t7779\tx.my9500_rel.z13a_gtid.pk1
--- relative to first result
1.10\t1.45\t1\t1\t1.16\t0.95\tx.my9500_rel.z13a_gtid.pk1
";

#[test]
fn what_a_post_claims_about_gtids_follows_from_its_table() {
    let source = source("o.met.all", COSTS);
    let rows = read(&source, &compat()).unwrap();
    let value = |system: &str, test: &str, metric: &str| {
        let mut of_step = rows.iter();
        let row = of_step.find(|row| row.system.starts_with(system) && row.test.starts_with(test));
        row.unwrap().value(metric).unwrap()
    };
    for (test, metric, claimed) in [
        ("insert", "compat.cpu/o", "1.10"),
        ("insert", "cs/o", "1.45"),
        ("insert", "wKB/o", "1.16"),
        ("update-index", "compat.cpu/o", "0.97"),
        ("update-index", "cs/o", "0.98"),
        ("update-index", "wKB/o", "0.97"),
    ] {
        let ratio = value("my9500", test, metric) / value("my8044", test, metric);
        assert_eq!(fixed(ratio, 2), claimed, "{metric} of {test}");
    }
    // The lines of the table come out as they went in.
    let again = published(&[source], &rows, &compat()).unwrap();
    let lines = |text: &str| -> Vec<String> {
        let is_line = |line: &&str| line.contains("my9500") && !line.starts_with("col-");
        let named = text.lines().filter(is_line);
        named.map(|line| line.replace("x.my", "my").replace(".pk1", "")).collect()
    };
    assert_eq!(lines(&again), lines(COSTS));
    assert_eq!(lines(&again).len(), 4);
}

/// MySQL 5.6.51 and 8.0.43: queries per second, and the ratio that was published; in the order of the table.
const RATES: [(&str, u32, u32, &str); 33] = [
    ("hot-points_range=100", 4527, 2979, "0.66"),
    ("point-query_range=100", 24605, 16756, "0.68"),
    ("points-covered-pk_range=100", 2751, 2013, "0.73"),
    ("points-covered-si_range=100", 2798, 2238, "0.80"),
    ("points-notcovered-pk_range=100", 2601, 1921, "0.74"),
    ("points-notcovered-si_range=100", 1579, 1222, "0.77"),
    ("random-points_range=1000", 257, 221, "0.86"),
    ("random-points_range=100", 2622, 1940, "0.74"),
    ("random-points_range=10", 12586, 8674, "0.69"),
    ("read-only-count_range=1000", 4488, 3113, "0.69"),
    ("read-only-distinct_range=1000", 5827, 7313, "1.26"),
    ("read-only-order_range=1000", 12816, 9735, "0.76"),
    ("read-only_range=10000", 469, 473, "1.01"),
    ("read-only_range=100", 16699, 12867, "0.77"),
    ("read-only_range=10", 22460, 15619, "0.70"),
    ("read-only-simple_range=1000", 16952, 11564, "0.68"),
    ("read-only-sum_range=1000", 19401, 13246, "0.68"),
    ("range-covered-pk_range=100", 12881, 8783, "0.68"),
    ("range-covered-si_range=100", 13635, 9551, "0.70"),
    ("range-notcovered-pk_range=100", 11608, 7884, "0.68"),
    ("range-notcovered-si_range=100", 3008, 2226, "0.74"),
    ("scan_range=100", 6564, 4509, "0.69"),
    ("scan.warm_range=100", 6573, 4499, "0.68"),
    ("delete_range=100", 13972, 8450, "0.60"),
    ("insert_range=100", 14665, 8274, "0.56"),
    ("read-write_range=100", 15692, 11775, "0.75"),
    ("read-write_range=10", 19678, 13524, "0.69"),
    ("update-index_range=100", 3875, 3365, "0.87"),
    ("update-inlist_range=100", 5865, 4362, "0.74"),
    ("update-nonindex_range=100", 12865, 7866, "0.61"),
    ("update-one_range=100", 13044, 8062, "0.62"),
    ("update-zipf_range=100", 12692, 7893, "0.62"),
    ("write-only_range=10000", 17150, 11889, "0.69"),
];

/// Its summary: the group, its tests, and the least, largest, mean and median ratio.
const GROUPS: [(&str, usize, [&str; 4]); 5] = [
    ("point", 9, ["0.66", "0.86", "0.74", "0.74"]),
    ("range-aggregate", 8, ["0.68", "1.26", "0.82", "0.73"]),
    ("range", 5, ["0.68", "0.74", "0.70", "0.69"]),
    ("range and range-aggregate", 13, ["0.68", "1.26", "0.77", "0.70"]),
    ("write", 10, ["0.56", "0.87", "0.68", "0.65"]),
];

/// Its table of rates.
fn table_of_rates() -> Source {
    let lines = RATES.map(|(test, old, new, _)| format!("{old}\t{new}\t{test}\n"));
    let text = format!(
        "col-1 : x.my5651.z12a.pk1\ncol-2 : x.my8043.z12a.pk1\n\ncol-1\tcol-2\n{}",
        lines.concat()
    );
    source("qps.abs.all", &text)
}

#[test]
fn ratios_and_the_summary_of_groups_are_the_published_ones() {
    let source = table_of_rates();
    let rows: Vec<ImportedStep> = read(&source, &compat()).unwrap();
    let printed = published(&[source], &rows, &compat()).unwrap();
    let (_, relative) = printed.split_once("\nqps.rel\n").unwrap();
    let expected = RATES.map(|(test, _, _, ratio)| format!("{ratio}\t{test}"));
    let lines = relative.lines();
    let seen: Vec<&str> = lines.filter(|line| line.contains("_range=")).collect();
    assert_eq!(seen, expected);
    for (name, tests, ratios) in GROUPS {
        let is_in = |test: &str| name.split(" and ").any(|group| group == group_of(test));
        let group = group_ratios(&rows, "my8043.z12a", "my5651.z12a", is_in).unwrap();
        let seen = [&group.least, &group.largest, &group.mean, &group.median];
        assert_eq!((group.tests, seen.map(String::as_str)), (tests, ratios), "{name}");
    }
}

/// MySQL 5.6.51 and 8.0.44: statements and transactions a second, as sysbench printed them.
const OUTPUTS: &str = "\
my5651 delete.range100 14169.79 14169.79
my5651 read-write.range10 19828.51 991.43
my5651 update-index.range100 3834.69 3834.69
my5651 write-only.range10000 17244.88 2874.15
my8044 delete.range100 8433.01 8433.01
my8044 read-write.range10 13528.24 676.41
my8044 update-index.range100 3387.41 3387.41
my8044 write-only.range10000 11861.75 1976.96";

/// The table that was made of it.
const TABLE_OF_OUTPUTS: [&str; 4] = [
    "14170\t8433\tdelete_range=100",
    "19829\t13528\tread-write_range=10",
    "3835\t3387\tupdate-index_range=100",
    "17245\t11862\twrite-only_range=10000",
];

#[test]
fn rates_of_raw_output_are_the_published_ones() {
    let mut rows = Vec::new();
    for line in OUTPUTS.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let (build, test) = (fields[0], fields[1]);
        let text = format!(
            "SQL statistics:\ntransactions: 1 ({} per sec.)\nqueries: 1 ({} per sec.)\n\
             time elapsed: 600.0003s\n",
            fields[3], fields[2]
        );
        let directory = format!("x.{build}.z12a.pk1");
        let output = Source {
            kind: FileKind::SysbenchDirectory,
            system: None,
            clients: Vec::new(),
            origin: directory.clone(),
            files: vec![File { origin: format!("{directory}/sb.o.{test}.pk1.dop1"), text }],
        };
        rows.extend(read(&output, &compat()).unwrap());
    }
    let table = qps::print_absolute(&rows);
    let lines = table.lines().filter(|line| line.contains("_range="));
    assert_eq!(lines.collect::<Vec<_>>(), TABLE_OF_OUTPUTS);
}
