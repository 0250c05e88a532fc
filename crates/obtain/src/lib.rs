//! Obtains builds of database servers: fetched by the user's own clients, unpacked with distrust,
//! verified, and kept by content in the [`Depot`].
//!
//! **coordinates → archives → checked files → a directory under its digest → a name.** A
//! [`model::Recipe`] says where a build comes from and what goes where; the clients (`npm`, `mvn`,
//! `pip`, `apt-get`, `curl`) bring the user's own mirrors and proxies along. What a build is, its
//! own server says: this crate asks through [`Identify`], and knows of servers only what their programs
//! are called.

mod archive;
mod depot;
mod error;
mod fetch;
mod library;
mod place;
#[cfg(test)]
mod tests;
mod tree;
mod work;

pub use archive::Flaw;
pub use depot::{Added, Depot, Held, Installed, Obtained};
pub use error::ObtainError;
pub use work::Identify;
