//! The catalog is compiled in: a file added to it or removed from it must rebuild this crate.

fn main() {
    println!("cargo::rerun-if-changed=../../catalog");
}
