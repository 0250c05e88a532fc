//! What of an archive goes where.
