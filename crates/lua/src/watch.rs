//! Ends Lua that runs on after the user has asked for the end.
//!
//! LuaJIT allows another thread to set a hook for the next instruction. Compiled code looks for one where LuaJIT was
//! built with `LUAJIT_ENABLE_CHECKHOOK`; `.cargo/config.toml` says so.

use std::sync::{Arc, Mutex};

use mlua::{Lua, ffi};

use crate::lock;

/// The states of Lua that may have to be ended.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Mutex<Vec<State>>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State(*mut ffi::lua_State);

// SAFETY: another thread only sets a hook, which LuaJIT allows at any time while the state lives; `Watched` takes the
// pointer out under the lock before its state is closed.
#[expect(unsafe_code, reason = "a state of Lua is known by a pointer")]
unsafe impl Send for State {}

impl Watch {
    /// Lets every script that runs fail at its next instruction, and at each one that follows.
    pub fn end_all(&self) {
        for State(state) in lock(&self.0).iter() {
            // SAFETY: the state lives, see above.
            #[expect(unsafe_code, reason = "mlua's own hooks need the state for themselves")]
            unsafe {
                ffi::lua_sethook(*state, Some(interrupt), ffi::LUA_MASKCOUNT, 1);
            }
        }
    }

    pub(crate) fn add(&self, lua: &Lua) -> mlua::Result<Watched> {
        let state = std::cell::Cell::new(State(std::ptr::null_mut()));
        // SAFETY: the state is only looked at.
        #[expect(unsafe_code, reason = "mlua gives the state to such a function only")]
        unsafe {
            lua.exec_raw::<()>((), |raw| state.set(State(raw)))?;
        }
        lock(&self.0).push(state.get());
        Ok(Watched { watch: self.clone(), state: state.get() })
    }
}

/// A state that is watched until this is dropped: before the state itself.
pub(crate) struct Watched {
    watch: Watch,
    state: State,
}

impl Drop for Watched {
    fn drop(&mut self) {
        let state = self.state;
        lock(&self.watch.0).retain(|other| *other != state);
    }
}

#[expect(unsafe_code, reason = "Lua calls it")]
unsafe extern "C-unwind" fn interrupt(state: *mut ffi::lua_State, _: *mut ffi::lua_Debug) {
    // SAFETY: Lua gives its own state, and nothing here needs to be dropped when the error leaves.
    unsafe {
        ffi::luaL_error(state, c"interrupted".as_ptr());
    }
}
