//! Exports, read back as other programs read them.

#![expect(clippy::unwrap_used, reason = "what tests share is part of them")]

use std::fs::File;
use std::time::{Duration, SystemTime};

use base64::Engine;
use export::{IntervalLog, Packer, RowFormat, RowWriter, Value, open_metrics, table};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use model::{
    Cell, Clock, Comparison, Evidence, Interval, IntervalNumbers, KindInterval, KindNumbers,
    Latency, MetricId, Nanos, Readings, Reason, RunId, StepHistogram, StepId, StepPlace, TrialKey,
    Unit, Verdict,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use proptest::prelude::*;

fn run() -> RunId {
    RunId("r1".into())
}

fn cell(system: &str, metric: &str, unit: Unit, value: f64) -> Cell {
    Cell {
        round: 1,
        position: 2,
        system: system.into(),
        step: StepId::new("l.i0"),
        ordinal: 0,
        clients: 4,
        metric: MetricId::new(metric),
        unit,
        value,
    }
}

fn place(system: &str) -> StepPlace {
    StepPlace {
        trial: TrialKey { round: 1, position: 2, system: system.into() },
        step: StepId::new("qr100"),
        clients: 4,
        kinds: vec!["query".into(), "insert".into()],
    }
}

fn compared(verdict: Verdict, ratio: Option<f64>) -> Comparison {
    Comparison {
        step: StepId::new("l.i0"),
        ordinal: 0,
        clients: 4,
        metric: MetricId::new("rate"),
        unit: Unit::RowsPerSecond,
        base: "a".into(),
        system: "b".into(),
        ratio,
        low: ratio.map(|ratio| ratio - 0.25),
        high: ratio.map(|ratio| ratio + 0.25),
        rounds: 4,
        pairs: Vec::new(),
        q_value: None,
        verdict,
        magnitude: None,
        evidence: None,
    }
}

fn latency(micros: &[u64]) -> Latency {
    let mut latency = Latency::new();
    for one in micros {
        latency.record(Nanos(one * 1000));
    }
    latency
}

/// Writes these rows in this format.
fn written(
    format: RowFormat,
    columns: &'static [export::Column],
    rows: &[&[Value<'_>]],
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = RowWriter::begin(format, "rows", columns, &mut bytes).unwrap();
    for row in rows {
        writer.row(row).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn text(format: RowFormat, columns: &'static [export::Column], rows: &[&[Value<'_>]]) -> String {
    String::from_utf8(written(format, columns, rows)).unwrap()
}

/// A Parquet file opened again, with the directory that holds it.
fn reopened(bytes: &[u8]) -> (tempfile::TempDir, SerializedFileReader<File>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.parquet");
    std::fs::write(&path, bytes).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    (directory, reader)
}

#[test]
fn measurements_are_lines_of_csv_under_their_header() {
    let run = run();
    let cells = [
        cell("a,\"b\"", "rate", Unit::RowsPerSecond, 527_408.25),
        cell("c", "cpu/o", Unit::MicrosPerOp, 1.5),
    ];
    let rows = cells.each_ref().map(|cell| table::measurement(&run, cell));
    let rows = [&rows[0][..], &rows[1][..]];
    assert_eq!(
        text(RowFormat::Csv, table::MEASUREMENTS, &rows),
        "run,round,position,system,step,clients,metric,unit,value\n\
         r1,1,2,\"a,\"\"b\"\"\",l.i0,4,rate,rows/s,527408.25\n\
         r1,1,2,c,l.i0,4,cpu/o,µs/op,1.5\n"
    );
    assert_eq!(
        text(RowFormat::JsonLines, table::MEASUREMENTS, &rows[1..]),
        "{\"run\":\"r1\",\"round\":1,\"position\":2,\"system\":\"c\",\"step\":\"l.i0\",\
         \"clients\":4,\"metric\":\"cpu/o\",\"unit\":\"µs/op\",\"value\":1.5}\n"
    );
}

#[test]
fn a_name_is_no_formula_in_csv_and_itself_elsewhere() {
    let run = run();
    let cell = cell("=cmd|' /C calc'!A0", "rate", Unit::RowsPerSecond, -1.5);
    let row = table::measurement(&run, &cell);
    let csv = text(RowFormat::Csv, table::MEASUREMENTS, &[&row[..]]);
    assert!(csv.ends_with("\nr1,1,2,'=cmd|' /C calc'!A0,l.i0,4,rate,rows/s,-1.5\n"), "{csv}");
    let json = text(RowFormat::JsonLines, table::MEASUREMENTS, &[&row[..]]);
    assert!(json.contains("\"system\":\"=cmd|' /C calc'!A0\""), "{json}");
}

#[test]
fn a_number_that_there_is_not_is_null_in_json_and_nothing_in_csv() {
    let run = run();
    let none = compared(Verdict::Inconclusive(Reason::NotJudged), None);
    let words = table::Words::of(&none);
    let row = table::comparison(&run, &none, &words);
    assert_eq!(
        text(RowFormat::JsonLines, table::COMPARISONS, &[&row]),
        "{\"run\":\"r1\",\"step\":\"l.i0\",\"clients\":4,\"metric\":\"rate\",\"unit\":\"rows/s\",\
         \"base\":\"a\",\"system\":\"b\",\"ratio\":null,\"low\":null,\"high\":null,\"rounds\":4,\
         \"q_value\":null,\"verdict\":\"inconclusive\",\"reason\":\"neither direction is better\",\
         \"sd\":null,\"df\":null,\"prior_df\":null,\"margin\":null,\"p_value\":null,\"sign_flip\":null,\
         \"centre\":null,\"outlying\":\"\",\"slice_pairs\":null}\n"
    );
    let csv = text(RowFormat::Csv, table::COMPARISONS, &[&row]);
    assert!(
        csv.ends_with("rows/s,a,b,,,,4,,inconclusive,neither direction is better,,,,,,,,,\n"),
        "{csv}"
    );
}

#[test]
fn the_evidence_of_a_comparison_ends_its_row() {
    let run = run();
    let mut one = compared(Verdict::Regressed, Some(0.75));
    one.evidence = Some(Evidence {
        sd: 0.5,
        sd_of_rounds: 0.5,
        df: 4.5,
        prior_df: 1.5,
        margin: 0.02,
        p_value: 0.125,
        sign_flip: Some(0.25),
        centre: 0.74,
        outlying: vec![3, 7],
        slice_pairs: None,
        within: None,
    });
    let words = table::Words::of(&one);
    let csv = text(RowFormat::Csv, table::COMPARISONS, &[&table::comparison(&run, &one, &words)]);
    assert!(csv.ends_with(",regressed,,0.5,4.5,1.5,0.02,0.125,0.25,0.74,3 7,\n"), "{csv}");
}

#[test]
fn each_kind_of_an_interval_has_a_row() {
    let (run, place) = (run(), place("a"));
    let numbers = |ops| KindNumbers {
        ops,
        rows: 2 * ops,
        errors: 1,
        retries: 0,
        p50: Nanos(10),
        p99: Nanos(20),
        max: Nanos(30),
    };
    let interval = IntervalNumbers {
        index: 7,
        start: Nanos(7_000_000_000),
        length: Nanos(1_000_000_000),
        stalled: Nanos(5),
        kinds: vec![numbers(100), numbers(3)],
    };
    let rows: Vec<[Value<'_>; 18]> = table::interval(&run, &place, &interval).collect();
    let rows: Vec<&[Value<'_>]> = rows.iter().map(<[Value<'_>; 18]>::as_slice).collect();
    assert_eq!(
        text(RowFormat::Csv, table::INTERVALS, &rows),
        "run,round,position,system,step,clients,interval,start_ns,length_ns,kind,ops,rows,errors,\
         retries,p50_ns,p99_ns,max_ns,stalled_ns\n\
         r1,1,2,a,qr100,4,7,7000000000,1000000000,query,100,200,1,0,10,20,30,5\n\
         r1,1,2,a,qr100,4,7,7000000000,1000000000,insert,3,6,1,0,10,20,30,5\n"
    );
}

fn merged(is_response: bool, latency: Latency) -> StepHistogram {
    StepHistogram {
        round: 1,
        system: "a".into(),
        step: StepId::new("qr100"),
        kind: "query".into(),
        is_response,
        latency,
    }
}

#[test]
fn a_histogram_has_a_row_for_each_bucket_that_is_not_empty() {
    let (run, place) = (run(), place("a"));
    let histogram = merged(true, latency(&[100, 100, 250]));
    let rows: Vec<[Value<'_>; 10]> = table::histogram(&run, &place, &histogram).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0][7], Value::Text("response"));
    assert_eq!((rows[0][9], rows[1][9]), (Value::Count(2), Value::Count(1)));
}

#[test]
fn parquet_reads_back_with_what_is_absent() {
    let run = run();
    let all = [compared(Verdict::Regressed, Some(0.75)), compared(Verdict::Unchanged, None)];
    let words = all.each_ref().map(table::Words::of);
    let rows = [0, 1].map(|place| table::comparison(&run, &all[place], &words[place]));
    let bytes = written(RowFormat::Parquet, table::COMPARISONS, &[&rows[0], &rows[1]]);
    let (_directory, reader) = reopened(&bytes);
    let read: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(read.len(), 2);
    assert_eq!(read[0].get_string(0).unwrap(), "r1");
    assert_eq!(read[0].get_long(2).unwrap(), 4);
    assert_eq!(read[0].get_double(7).unwrap().to_string(), "0.75");
    assert_eq!(read[0].get_string(12).unwrap(), "regressed");
    assert!(read[1].get_double(7).is_err(), "it is absent");
}

#[test]
fn parquet_without_rows_is_a_file_with_columns() {
    let bytes = written(RowFormat::Parquet, table::MEASUREMENTS, &[]);
    let (_directory, reader) = reopened(&bytes);
    let about = reader.metadata().file_metadata();
    assert_eq!(about.num_rows(), 0);
    assert_eq!(about.schema_descr().num_columns(), table::MEASUREMENTS.len());
}

#[test]
fn more_rows_than_a_group_holds_are_all_there() {
    let run = run();
    let cell = cell("a", "rate", Unit::RowsPerSecond, 1.0);
    let row = table::measurement(&run, &cell);
    let rows = vec![&row[..]; 70_000];
    let bytes = written(RowFormat::Parquet, table::MEASUREMENTS, &rows);
    let (_directory, reader) = reopened(&bytes);
    assert_eq!(reader.metadata().file_metadata().num_rows(), 70_000);
    assert_eq!(reader.num_row_groups(), 2);
}

#[test]
fn a_row_of_another_table_is_refused() {
    let mut bytes = Vec::new();
    let columns = table::HISTOGRAMS;
    let mut writer = RowWriter::begin(RowFormat::Parquet, "rows", columns, &mut bytes).unwrap();
    let error = writer.row(&[Value::Count(1)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a row does not fit its table: column `run` takes another kind of value"
    );
}

#[test]
fn an_interval_log_reads_back() {
    let place = place("a b,c");
    let (service, response) = (latency(&[100, 200]), latency(&[300]));
    let kind = |ops, response| KindInterval {
        ops,
        service: service.clone(),
        response,
        ..KindInterval::default()
    };
    let second = Interval {
        index: 1,
        start: Nanos(1_000_000_000),
        length: Nanos(500_000_000),
        kinds: vec![kind(2, None), kind(2, Some(response.clone()))],
        stalled: Nanos(0),
        readings: Readings::default(),
    };
    let (mut log, mut packer) = (Vec::new(), Packer::default());
    let started = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
    let mut writer = IntervalLog::begin(&mut log, &mut packer, "run r1", Some(started)).unwrap();
    writer.interval(&place, &second).unwrap();
    let entries: Vec<LogEntry<'_>> = IntervalLogIterator::new(&log).map(Result::unwrap).collect();
    assert_eq!(entries[0], LogEntry::StartTime(Duration::from_secs(1_000)));
    let mut tags = Vec::new();
    let mut read = Vec::new();
    for entry in &entries[1..] {
        let LogEntry::Interval(one) = entry else {
            panic!("another entry: {entry:?}");
        };
        assert_eq!(one.start_timestamp(), Duration::from_secs(1));
        assert_eq!(one.duration(), Duration::from_millis(500));
        tags.push(one.tag().unwrap().as_str());
        let packed =
            base64::engine::general_purpose::STANDARD.decode(one.encoded_histogram()).unwrap();
        let histogram: Histogram<u64> =
            Deserializer::new().deserialize(&mut packed.as_slice()).unwrap();
        read.push(histogram);
    }
    assert_eq!(
        tags,
        [
            "a_b_c:1:qr100:query:service",
            "a_b_c:1:qr100:insert:service",
            "a_b_c:1:qr100:insert:response"
        ]
    );
    assert_eq!(&read[0], service.histogram());
    assert_eq!(&read[2], response.histogram());
}

#[test]
fn open_metrics_keeps_the_samples_of_a_family_together() {
    let run = run();
    let mut all = open_metrics::Measurements::new(&run);
    for system in ["a", "b\"c"] {
        all.add(&cell(system, "rate", Unit::RowsPerSecond, 10.5), Some(1_000.0));
        all.add(&cell(system, "server.cpu/o", Unit::MicrosPerOp, 1500.0), None);
    }
    let mut bytes = Vec::new();
    all.write(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let place = |system: &str| {
        format!(
            "run=\"r1\",round=\"1\",position=\"2\",system=\"{system}\",step=\"l.i0\",clients=\"4\""
        )
    };
    let (a, b) = (place("a"), place("b\\\"c"));
    let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let rate = "backslide_rate_rows_per_second";
    let cpu = "backslide_server_cpu_seconds_per_operation";
    assert_eq!(
        samples,
        [
            format!("{rate}{{{a},metric=\"rate\"}} 10.5 1000"),
            format!("{rate}{{{b},metric=\"rate\"}} 10.5 1000"),
            format!("{cpu}{{{a},metric=\"server.cpu/o\"}} 0.0015"),
            format!("{cpu}{{{b},metric=\"server.cpu/o\"}} 0.0015"),
        ]
    );
    assert!(text.starts_with(&format!("# TYPE {rate} gauge\n# UNIT {rate} rows_per_second\n")));
    assert!(text.ends_with("\n# EOF\n"));
    assert_eq!(text.matches("# TYPE").count(), 2);
}

#[test]
fn open_metrics_tells_ids_apart_that_share_a_family() {
    let run = run();
    let mut all = open_metrics::Measurements::new(&run);
    for metric in ["errors.read-only", "rate", "errors.read_only"] {
        all.add(&cell("a", metric, Unit::Count, 1.0), None);
    }
    let mut bytes = Vec::new();
    all.write(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let seen: Vec<(&str, &str)> = samples
        .map(|line| {
            let (family, labels) = line.split_once('{').unwrap();
            (family, labels.split_once("metric=").unwrap().1)
        })
        .collect();
    let errors = "backslide_errors_read_only";
    assert_eq!(
        seen,
        [
            (errors, "\"errors.read-only\"} 1"),
            (errors, "\"errors.read_only\"} 1"),
            ("backslide_rate", "\"rate\"} 1"),
        ]
    );
    assert_eq!(text.matches("# TYPE").count(), 2);
}

#[test]
fn open_metrics_has_buckets_that_only_grow() {
    let (run, place) = (run(), place("a"));
    let mut bytes = Vec::new();
    let mut all = open_metrics::Histograms::begin(&run, &mut bytes);
    all.family(Clock::Service).unwrap();
    let histogram = merged(false, latency(&[100, 100, 3_000]));
    all.add(&place, &histogram, Some(1_000.0)).unwrap();
    all.family(Clock::Response).unwrap();
    all.finish().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let value = |line: &str| -> f64 {
        let fields: Vec<&str> = line.rsplit(' ').collect();
        assert_eq!(fields[0], "1000", "{line}");
        fields[1].parse().unwrap()
    };
    let with = |word: &str| text.lines().find(|line| line.contains(word)).map(value);
    assert_eq!(with("le=\"0.000064\""), Some(0.0));
    assert_eq!(with("le=\"0.000256\""), Some(2.0));
    assert_eq!(with("le=\"4.0\""), Some(3.0));
    assert_eq!(with("le=\"+Inf\""), Some(3.0));
    assert_eq!(with("seconds_count"), Some(3.0));
    let sum = with("seconds_sum").unwrap();
    assert!((sum / 0.0032 - 1.0).abs() < 0.001, "{sum}");
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn open_metrics_says_the_verdict_as_a_set_of_states() {
    let mut bytes = Vec::new();
    let all = [compared(Verdict::Regressed, Some(0.75))];
    open_metrics::comparisons(&run(), &all, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let labels = "run=\"r1\",base=\"a\",system=\"b\",step=\"l.i0\",clients=\"4\",metric=\"rate\"";
    let verdict = "backslide_comparison_verdict";
    assert!(text.contains(&format!("backslide_comparison_ratio{{{labels}}} 0.75\n")));
    assert!(text.contains(&format!("{verdict}{{{labels},{verdict}=\"regressed\"}} 1\n")));
    assert!(text.contains(&format!("{verdict}{{{labels},{verdict}=\"improved\"}} 0\n")));
    assert!(!text.contains("q_value{"), "there is none");
}

proptest! {
    #[test]
    fn whatever_the_names_a_json_line_reads_back(name in any::<String>(), value in -1e300..1e300f64) {
        let run = run();
        let cell = cell(&name, &name, Unit::Count, value);
        let line = text(RowFormat::JsonLines, table::MEASUREMENTS, &[&table::measurement(&run, &cell)]);
        prop_assert_eq!(line.lines().count(), 1);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(read["system"].as_str(), Some(name.as_str()));
        // Readers of JSON may be off by the last digit.
        let back = read["value"].as_f64().unwrap();
        prop_assert!((back - value).abs() <= value.abs() * 1e-12, "{} {}", back, value);
    }

    #[test]
    fn whatever_the_names_a_sample_stays_on_its_line(name in any::<String>()) {
        let mut all = open_metrics::Measurements::new(&run());
        all.add(&cell(&name, "rate", Unit::Count, 1.0), None);
        let mut bytes = Vec::new();
        all.write(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        prop_assert_eq!(text.split('\n').count(), 5, "{}", text);
    }
}
