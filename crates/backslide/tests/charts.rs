//! The charts of a run as files, for a blog post.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
#[cfg(feature = "png")]
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Bench, names};

/// Two systems, two steps, four rounds. The name of one step is no fit name for a file.
fn imported() -> Bench {
    let bench = Bench::new();
    let mut text = "system,step,metric,value,round\n".to_owned();
    for step in ["point-query", "../<b>x"] {
        for (round, rate) in (1..).zip([1000.0, 1004.0, 997.0, 1002.0]) {
            let slower = rate * (0.9 + 0.0005 * f64::from(round));
            writeln!(text, "mysql-8.0.31,{step},rate,{rate},{round}").unwrap();
            writeln!(text, "mysql-9.7.4,{step},rate,{slower},{round}").unwrap();
        }
    }
    bench.write("mine.csv", &text);
    assert_eq!(bench.run(&["import", "mine.csv"]).fine(), "r1\n");
    bench
}

/// What is drawn of them.
const CHARTS: [&str; 3] = ["ratios", "rounds-b-x", "rounds-point-query"];

fn files(endings: &[&str]) -> Vec<String> {
    let of = |chart: &&str| -> Vec<String> {
        let endings = endings.iter();
        endings.map(|ending| format!("{chart}.{ending}")).collect()
    };
    CHARTS.iter().flat_map(of).collect()
}

#[cfg(feature = "png")]
fn colours(path: &Path) -> usize {
    let png = fs::read(path).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "{}", path.display());
    let painted = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
    let pixels = painted.pixels().iter();
    let distinct: std::collections::HashSet<[u8; 3]> =
        pixels.map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
    distinct.len()
}

#[test]
fn each_chart_is_a_file_that_a_markdown_report_shows() {
    let bench = imported();
    let ran = bench.run(&["report", "-o", "post.md", "--charts", "img/charts"]);
    let has_png = cfg!(feature = "png") && !ran.stderr.contains("no font was found");
    assert_eq!(ran.stderr.contains("built without PNG"), !cfg!(feature = "png"), "{ran:?}");
    assert!(ran.stderr.ends_with("3 charts in img/charts\n"), "{ran:?}");
    assert_eq!(ran.fine(), "post.md\n");
    let directory = bench.path("img/charts");
    let (endings, shown): (&[&str], &str) =
        if has_png { (&["png", "svg"], "png") } else { (&["svg"], "svg") };
    assert_eq!(names(&directory), files(endings));
    for chart in CHARTS {
        let svg = fs::read_to_string(directory.join(format!("{chart}.svg"))).unwrap();
        assert!(svg.starts_with("<svg xmlns="), "{chart}");
        assert!(svg.contains(", run r1, "), "{chart}");
        assert!(!svg.contains("<b>"), "{chart}");
        #[cfg(feature = "png")]
        if has_png {
            let distinct = colours(&directory.join(format!("{chart}.png")));
            assert!(distinct > 20, "{chart}: {distinct} colours");
        }
    }
    let post = fs::read_to_string(bench.path("post.md")).unwrap();
    let link = format!("![point-query · Every round](img/charts/rounds-point-query.{shown})");
    assert!(post.contains(&link), "{post}");
    assert_eq!(post.matches("](img/charts/").count(), CHARTS.len());
}

#[test]
fn charts_are_written_beside_any_report_and_other_files_stay() {
    let bench = imported();
    fs::create_dir(bench.path("charts")).unwrap();
    bench.write("charts/mine.txt", "mine");
    bench.write("charts/rounds-b-x.svg", "old");
    let told = bench.run(&["report", "--charts", "charts"]).fine();
    let report = bench.lab().join("reports/r1.html");
    assert_eq!(told, format!("{}\n", report.display()));
    assert!(report.exists());
    let read = |name: &str| fs::read_to_string(bench.path(name)).unwrap();
    assert_eq!(read("charts/mine.txt"), "mine");
    assert!(read("charts/rounds-b-x.svg").starts_with("<svg "));
}

#[cfg(feature = "png")]
#[test]
fn without_a_font_there_are_svg_and_it_is_told_what_to_do() {
    let bench = imported();
    let none = bench.path("none").display().to_string();
    let config = format!("<fontconfig><dir>{none}</dir></fontconfig>");
    let config = bench.write("fonts.conf", &config);
    let mut command = bench.command(&["report", "-o", "post.md", "--charts", "charts"]);
    let output = command.env("FONTCONFIG_FILE", config).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.starts_with("warning: no font was found") && told.contains("fonts-dejavu-core"),
        "{told}"
    );
    assert_eq!(names(&bench.path("charts")), files(&["svg"]));
    let post = fs::read_to_string(bench.path("post.md")).unwrap();
    assert!(post.contains("(charts/rounds-b-x.svg)"), "{post}");
}

#[test]
fn what_cannot_be_written_is_named() {
    let bench = imported();
    bench.write("taken", "a file");
    for directory in ["taken", "taken/below"] {
        let ran = bench.run(&["report", "-o", "x.html", "--charts", directory]);
        assert_eq!(ran.code(), 1, "{ran:?}");
        let error = format!("error: cannot create {directory}\n");
        assert!(ran.stderr.starts_with(&error), "{ran:?}");
        assert!(!bench.path("x.html").exists());
    }
    let inside = bench.path("charts/ratios.svg");
    fs::create_dir_all(&inside).unwrap();
    let ran = bench.run(&["report", "--charts", "charts"]);
    assert_eq!(ran.code(), 1, "{ran:?}");
    let error = "error: cannot write charts/ratios.svg\n";
    assert!(ran.stderr.starts_with(error), "{ran:?}");
    // Nothing half-written is left.
    assert_eq!(names(&bench.path("charts")), ["ratios.svg"]);
}

#[test]
fn a_run_that_no_chart_shows_says_so() {
    let bench = Bench::new();
    let text = "system,step,metric,value,round\nmysql-8.0.31,point-query,cs/o,1.5,1\n";
    bench.write("mine.csv", text);
    bench.run(&["import", "mine.csv"]).fine();
    let ran = bench.run(&["report", "-o", "x.html", "--charts", "charts"]);
    assert!(ran.stderr.starts_with("run r1 has no charts"), "{ran:?}");
    ran.fine();
    assert!(bench.path("x.html").exists() && !bench.path("charts").exists());
}

#[test]
fn a_report_is_shown_in_the_browser_of_the_user() {
    let bench = imported();
    // It stays, as browsers may.
    let script = "#!/bin/sh\nprintf %s \"$1 $2\" > shown\nexec /bin/sleep 60\n";
    let script = bench.write("browser", script);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let open = |browser: &str, arguments: &[&str]| {
        let mut command = bench.command(arguments);
        // No opener of this machine is found.
        command.env("PATH", bench.path("none")).env("BROWSER", browser).output().unwrap()
    };
    let browser = format!("no-such-browser:{} --new", bench.path("browser").display());
    let begun = Instant::now();
    let ran = open(&browser, &["report", "-o", "my page.html", "--open"]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let file = bench.path("my page.html").canonicalize().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30), "the browser was waited for");
    let shown = format!("--new {}", file.display());
    while fs::read_to_string(bench.path("shown")).ok().as_ref() != Some(&shown) {
        assert!(begun.elapsed() < Duration::from_mins(1), "the browser was not started");
        sleep(Duration::from_millis(20));
    }
    let none = open("/bin/false --new", &["report", "-o", "x.html", "--open"]);
    let told = String::from_utf8(none.stderr).unwrap();
    assert_eq!(none.status.code(), Some(1), "{told}");
    assert!(told.contains("no browser was found: set BROWSER to one, or open "), "{told}");
    assert!(told.contains("(/bin/false --new: exit status: 1; xdg-open: "), "{told}");
    assert!(bench.path("x.html").exists());
    let nowhere = open("", &["report", "-o", "-", "--open"]);
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(String::from_utf8(nowhere.stderr).unwrap().contains("--open needs a file"));
}
