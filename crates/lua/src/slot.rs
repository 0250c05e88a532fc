//! Values of a statement's parameters, as Lua sets them: the prelude declares the same structure.

use drivers::{Param, ParamType, SessionError};

#[derive(Debug)]
#[repr(C)]
pub(crate) struct Slot {
    /// For [`ParamType::Int`].
    number: i64,
    /// For all other types.
    text: *const u8,
    length: usize,
    /// 0 for NULL.
    is_set: u8,
}

impl Slot {
    pub(crate) const fn is_null(&self) -> bool {
        self.is_set == 0
    }

    pub(crate) fn param(&self, kind: ParamType) -> Result<Param<'_>, SessionError> {
        if kind == ParamType::Int {
            return Ok(Param::Int(self.number));
        }
        // SAFETY: the prelude has made room for a text of this length, and keeps it as long as the slot.
        #[expect(unsafe_code, reason = "the text lies in a buffer of Lua's")]
        let bytes = unsafe { std::slice::from_raw_parts(self.text, self.length) };
        if kind == ParamType::Text {
            return Ok(Param::Bytes(bytes));
        }
        std::str::from_utf8(bytes).map(Param::Text).map_err(|error| SessionError::Protocol {
            what: format!("the value of a parameter that is no text is not UTF-8: {error}"),
        })
    }
}
