//! What differs between two systems at run time, and whether it should.
