//! A fake Dbms and redaction for snapshots; for tests only.
