//! Clients, pacing and recording; the workloads.
