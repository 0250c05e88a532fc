//! Finds, initialises, starts and stops database servers; one file per Dbms.
