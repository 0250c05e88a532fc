//! Carries a plan out: instances, steps, probes, events.
