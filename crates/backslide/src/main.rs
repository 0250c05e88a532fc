//! The backslide command.

fn main() {}
