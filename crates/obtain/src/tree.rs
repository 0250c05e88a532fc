//! Directories of files: their digest and size.
