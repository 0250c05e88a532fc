//! The functions that scripts call through LuaJIT's `ffi`.
//!
//! LuaJIT compiles such a call; at a function of mlua it leaves its compiled code. None of these functions raises an
//! error of Lua or panics: the prelude raises what [`How`] says.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

use drivers::SessionError;
use mlua::{LightUserData, Lua, Table};

use crate::connection::Channel;
use crate::lock;
use crate::random::{LAWS, Random};
use crate::slot::Slot;

/// How a statement ended. The prelude has these numbers too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum How {
    NoRows = 0,
    Rows = 1,
    /// The connection has the error.
    Failed = 2,
    /// Nothing was sent: a parameter is NULL, which prepared statements of ours do not take.
    AsText = 3,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Returned {
    pub(crate) rows: f64,
    pub(crate) fields: u32,
}

/// The addresses of the functions, by the names that the prelude has for them.
pub(crate) fn addresses(lua: &Lua) -> mlua::Result<Table> {
    let functions = [
        ("query", query as *mut c_void),
        ("execute", execute as *mut c_void),
        ("draw", draw as *mut c_void),
        ("unique", unique as *mut c_void),
        ("unit", unit as *mut c_void),
        ("word", word as *mut c_void),
        ("fill", fill as *mut c_void),
        ("fill_varied", fill_varied as *mut c_void),
    ];
    lua.create_table_from(functions.map(|(name, function)| (name, LightUserData(function))))
}

/// The address of what Lua gives back to a function; whoever has the [`Arc`] keeps it alive.
pub(crate) fn address<T>(shared: &Arc<Mutex<T>>) -> LightUserData {
    LightUserData(Arc::as_ptr(shared).cast_mut().cast())
}

/// # Safety
///
/// `shared` is an [`address`] whose [`Arc`] lives.
#[expect(unsafe_code, reason = "Lua has only the address")]
unsafe fn locked<'a, T>(shared: *const Mutex<T>) -> MutexGuard<'a, T> {
    // SAFETY: see above.
    lock(unsafe { &*shared })
}

#[expect(unsafe_code, reason = "called by the prelude with what it got from here")]
unsafe extern "C" fn query(
    channel: *const Mutex<Channel>,
    sql: *const u8,
    length: usize,
    returned: *mut Returned,
) -> How {
    // SAFETY: the connection of the script keeps the channel alive; text and place are Lua's, for the time of the call.
    let (mut channel, sql, returned) =
        unsafe { (locked(channel), std::slice::from_raw_parts(sql, length), &mut *returned) };
    ended(&mut channel, |channel| channel.query(sql, returned))
}

#[expect(unsafe_code, reason = "called by the prelude with what it got from here")]
unsafe extern "C" fn execute(
    channel: *const Mutex<Channel>,
    place: usize,
    slots: *const &Slot,
    count: usize,
    returned: *mut Returned,
) -> How {
    // SAFETY: as in `query`; `slots` has `count` addresses of slots that the statement's parameters keep alive.
    let (mut channel, slots, returned) =
        unsafe { (locked(channel), std::slice::from_raw_parts(slots, count), &mut *returned) };
    ended(&mut channel, |channel| channel.execute(place, slots, returned))
}

/// A panic must not pass through Lua.
fn ended(
    channel: &mut Channel,
    act: impl FnOnce(&mut Channel) -> Result<How, SessionError>,
) -> How {
    let done = catch_unwind(AssertUnwindSafe(|| act(channel)));
    let done = done.unwrap_or_else(|_| {
        Err(SessionError::Protocol { what: "a bug of backslide; its text is above".to_owned() })
    });
    done.unwrap_or_else(|error| channel.fails(error))
}

#[expect(unsafe_code, reason = "called by the prelude with what it got from here")]
unsafe extern "C" fn draw(random: *const Mutex<Random>, law: usize, low: u32, high: u32) -> u32 {
    // SAFETY: the script keeps it alive; so do the others below.
    let mut random = unsafe { locked(random) };
    let law = LAWS.get(law).map_or(random.shape.law, |(_, law)| *law);
    law(&mut random, low, high)
}

#[expect(unsafe_code, reason = "called by the prelude with what it got from here")]
unsafe extern "C" fn unique(random: *const Mutex<Random>) -> u32 {
    // SAFETY: as in `draw`.
    unsafe { locked(random) }.unique()
}

#[expect(unsafe_code, reason = "called by the prelude with what it got from here")]
unsafe extern "C" fn unit(random: *const Mutex<Random>) -> f64 {
    // SAFETY: as in `draw`.
    unsafe { locked(random) }.unit()
}

#[expect(unsafe_code, reason = "called by the prelude with what it got from here")]
unsafe extern "C" fn word(random: *const Mutex<Random>) -> u64 {
    // SAFETY: as in `draw`.
    unsafe { locked(random) }.word()
}

#[expect(unsafe_code, reason = "called by the prelude with what it got from here")]
unsafe extern "C" fn fill(random: *const Mutex<Random>, text: *mut u8, length: usize) {
    // SAFETY: as in `draw`; the text is Lua's, for the time of the call.
    let (mut random, text) =
        unsafe { (locked(random), std::slice::from_raw_parts_mut(text, length)) };
    random.fill(text);
}

#[expect(unsafe_code, reason = "called by the prelude with what it got from here")]
unsafe extern "C" fn fill_varied(random: *const Mutex<Random>, text: *mut u8, length: usize) {
    // SAFETY: as in `fill`.
    let (mut random, text) =
        unsafe { (locked(random), std::slice::from_raw_parts_mut(text, length)) };
    random.fill_varied(text);
}
