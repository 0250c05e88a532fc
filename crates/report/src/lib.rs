//! Stored run in, report out: HTML, Markdown, TSV, JSON.
