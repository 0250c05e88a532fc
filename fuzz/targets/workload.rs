//! A workload file that may hold anything, by itself and in a plan of three products.

#![no_main]

use std::hint::black_box;

use libfuzzer_sys::fuzz_target;

const PLAN: &str = r#"name = "fuzz"
rounds = 1
[workload]
kind = "sql"
file = "./w.toml"
[[system]]
build = "sqlite"
[[system]]
build = "postgres"
[[system]]
build = "mysql"
"#;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let _ = black_box(plan::read_workload(text, "w.toml"));
    let file = plan::read(PLAN, "fuzz.toml");
    fuzz::plan(file.and_then(|file| file.with_workload_file(text, "w.toml")));
});
