//! The lab's results in SQLite; the only crate that knows SQL of our own store.
