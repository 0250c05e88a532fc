//! Plain data as JSON in a column, deflated where it is long.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Fault;

/// The longest JSON text that is unpacked, so that damage cannot exhaust the memory.
const LONGEST: u64 = 256 << 20;

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(Fault::other)
}

/// Reads what [`to_json`] wrote; `what` names it in errors.
pub(crate) fn from_json<T: DeserializeOwned>(
    text: &str,
    what: impl FnOnce() -> String,
) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|cause| Fault::damaged(what(), &cause))
}

/// Deflated JSON for a column.
pub(crate) fn pack(value: &impl Serialize) -> Result<Vec<u8>, Fault> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let json = serde_json::to_vec(value).map_err(Fault::other)?;
    encoder.write_all(&json).map_err(Fault::other)?;
    encoder.finish().map_err(Fault::other)
}

/// Reads what [`pack`] wrote; `what` names it in errors.
pub(crate) fn unpack<T: DeserializeOwned>(
    packed: &[u8],
    what: impl FnOnce() -> String,
) -> Result<T, Fault> {
    let mut json = Vec::new();
    ZlibDecoder::new(packed)
        .take(LONGEST)
        .read_to_end(&mut json)
        .map_err(|cause| cause.to_string())
        .and_then(|_| serde_json::from_slice(&json).map_err(|cause| cause.to_string()))
        .map_err(|cause| Fault::damaged(what(), &cause))
}
