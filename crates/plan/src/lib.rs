//! Plan file and catalog in, fully expanded plan out; pure.
