//! Slices in, values out: intervals, tests, verdicts.
