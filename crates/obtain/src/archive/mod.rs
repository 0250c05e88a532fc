//! Unpacks archives with distrust.
