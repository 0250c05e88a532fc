//! Libraries that a host may not have.
