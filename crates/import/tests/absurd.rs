//! Whatever a file holds, reading it ends in rows or in an error with a line of that file.

use import::{About, File, FileKind, Mode, Options, Source, published, read_all, run};
use proptest::prelude::*;

/// What real files are made of, so that damage goes deeper than the first line.
const PIECES: [&str; 46] = [
    "SQL statistics:",
    "queries: 80 (0.13 per sec.)",
    "transactions: 80 (0.13 per sec.)",
    "time elapsed: 605.3845s",
    "avg: 7.5\nmax: 8\nsum: 99",
    "95th percentile: 7.1",
    "Number of threads: 4",
    "sysbench --table-size=1000 oltp_scan.lua run",
    "samp\tr/s\trMB/s\tw/s\twMB/s\tr/o\trKB/o\twKB/o\to/s\n9 1 1 1 1 1 1 1 5",
    "samp\tcs/s\tcpu/s\tcs/o\tcpu/o\n9 1 1 1 1",
    "procs ---",
    "1 0 0 9 9 9 0 0 0 0 5 1000 20 10 70 0 0",
    "Device r/s rkB/s w/s wkB/s\nsda 1 2 3 4",
    "col-1 : x.my8044_rel.z12a.pk1",
    "col-1\n4527\thot-points_range=100",
    "Relative to: x.my5651_rel.z12a.pk1",
    "sb.met.insert.range100.pk1.dop1\n--- absolute",
    "0.001 1.5 0 0 1.2 1234 x.my8044.z12a.pk1",
    "l.i0",
    "1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 20m.my5649.cx6d",
    "-",
    "number of clients: 8\ntps = 17.5 (without initial connection time)",
    "duration: 60 s",
    "scaling factor: 10",
    "tps = 17.5 (including reconnection times)",
    "40 CPUs",
    "sysbench --tables=8 --table_size=10M lua/oltp_read_only.lua run",
    "system,step,metric,value,round\nmysql-8,a,rate,1,1",
    "mysql-8,a,rate,1,99999999",
    "\"mysql-8\",\"a\"\"\",cs/o,1,",
    "sb.r.qps.insert.range100.pk1\n5\t6\tx.my5649.x6d.pk1",
    "hot-points_range=100,1,2",
    "cpu/o\t\trKB/o\twKB/o\to/s\tdbms",
    "SQL script 1: d/a.sql\n - 9 transactions (9% of total, tps = 8.5)\n - latency average = 1 ms",
    "Target transaction rate: 200/sec",
    "Vuser 1:4 Active Virtual Users configured",
    "Vuser 1:TEST RESULT : System achieved 9 NOPM from 20 MySQL TPM",
    ">>>>> SUMMARY OF 4 ACTIVE VIRTUAL USERS\n>>>>> PROC: NEWORD\nAVG: 3ms P99: 1e308ms",
    "fillseq : 3.4 micros/op 2893 ops/sec 3.4 seconds 10 operations; 32.0 MB/s",
    "Microseconds per read:\nMin: 1 Max: 9\nPercentiles: P50: 2.9 P99: 8",
    "ops_sec\tmb_sec\tp99\ttest\tversion",
    "1536598\t615.5\t4\treadrandom.t32\t8.0.0",
    "NaN",
    "1e308",
    "99999999999999999999999999",
    "\u{fffd}\u{0}ü",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => ".{0,40}",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.join("\n"))
}

const NAMES: [&str; 6] = [
    "sb.o.scan.range100.pk1.dop1",
    "sb.met.scan.range100.pk1.dop1",
    "sb.vm.scan.range100.pk1.dop1",
    "sb.io.scan.range100.pk1.dop1",
    "mrg.q100.2",
    "my8044.txt",
];

proptest! {
    #[test]
    fn nothing_panics_and_errors_name_a_line(
        texts in proptest::collection::vec((proptest::sample::select(NAMES.to_vec()), text()), 1..4),
        is_compat in any::<bool>(),
        cpus in proptest::option::of(1_u32..1000),
    ) {
        let options = Options {
            mode: if is_compat { Mode::Compat } else { Mode::Exact },
            cpus,
            ..Options::default()
        };
        let files = texts.into_iter().map(|(name, text)| File {
            origin: format!("dir/{name}"),
            text,
        });
        let files: Vec<File> = files.collect();
        for (kind, _) in FileKind::ALL {
            let source = Source {
                kind,
                system: Some("mysql-8.0.44".to_owned()),
                clients: vec![1],
                origin: "dir".to_owned(),
                files: files.clone(),
            };
            let about = About {
                name: "imported".to_owned(),
                base: None,
                source: "dir".to_owned(),
                by_version: false,
            };
            let sources = [source];
            let result = read_all(&sources, &options).and_then(|rows| {
                let run = run(&rows, &about, &options)?;
                // What makes a run has tables, be they empty.
                published(&sources, &rows, &options).map(|_| run)
            });
            match result {
                Ok(run) => {
                    let all = run.trials.iter().flat_map(|trial| &trial.steps);
                    let mut values = all.flat_map(|(_, measured)| measured).map(|m| m.value);
                    prop_assert!(values.all(f64::is_finite));
                }
                Err(error) => prop_assert!(error.line >= 1 && !error.origin.is_empty()),
            }
        }
    }
}
