//! Writes a report of a made-up run, to be looked at: `cargo run -p bench --example sample_report -- FILE
//! [usual|large|many|one|micro|sweep|arrivals] [brief]`.

use report::{Differing, Finding, Input, Report};
use testkit::made_up::micro::{self, Micro};
use testkit::made_up::{self, Shape};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_else(|| "sample.html".to_owned());
    let name = arguments.next().unwrap_or_default();
    let is_brief = arguments.next().is_some_and(|word| word == "brief");
    let data = match name.as_str() {
        "micro" => micro::run(&Micro::usual()),
        "sweep" => micro::run(&Micro::sweep(&[1, 4, 6, 8, 10, 20, 40])),
        "arrivals" => micro::run(&Micro { arrivals: true, ..Micro::usual() }),
        name => made_up::run(&shape(name)),
    };
    let comparisons = made_up::comparisons(&data);
    let (variables, unequal) = made_up::differing();
    let input = Input {
        differing: Some(Differing { variables, unequal }),
        generated: "2026-11-21 12:00 UTC",
        findings: vec![Finding {
            title: "The governor is powersave".into(),
            text: "Frequencies follow the load; set it to performance.".into(),
        }],
        ..Input::new(&data, &comparisons)
    };
    let before = std::time::Instant::now();
    let page = if is_brief { Report::new(&input).html_brief() } else { Report::new(&input).html() };
    let took = before.elapsed();
    let size = page.len();
    std::fs::write(&file, page)?;
    let mut out = std::io::stdout();
    std::io::Write::write_fmt(&mut out, format_args!("{file}: {size} bytes in {took:?}\n"))
}

fn shape(name: &str) -> Shape {
    let named = |list: &[(&str, f64)]| list.iter().map(|(n, e)| ((*n).to_owned(), *e)).collect();
    match name {
        "large" => Shape {
            systems: named(&[
                ("mysql-5.6.51/innodb/z12a", 1.0),
                ("mysql-8.0.43/innodb/z12a", 0.7),
                ("mysql-9.4.0/innodb/z12a", 0.69),
                ("control", 1.0),
            ]),
            rounds: 6,
            seconds: 1800,
            ..Shape::usual()
        },
        "many" => Shape {
            systems: (0..30)
                .map(|i| (format!("mysql-8.0.{i}/innodb/z12a_c8r32"), 1.0 - f64::from(i) / 80.0))
                .collect(),
            rounds: 2,
            seconds: 120,
            ..Shape::usual()
        },
        "one" => Shape {
            systems: named(&[("sqlite/wal", 1.0)]),
            rounds: 1,
            seconds: 1,
            ..Shape::usual()
        },
        _ => Shape { failed: Some((1, 3)), ..Shape::usual() },
    }
}
