//! What can go wrong in a script.

/// Bytes that the script of one client may use.
pub(crate) const MOST_MEMORY: usize = 1 << 30;

/// An error of a script: what Lua says, which begins with script and line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    pub message: String,
    /// The name of the wrong option, with underscores.
    pub option: Option<String>,
}

impl ScriptError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), option: None }
    }

    pub(crate) fn of_option(option: &str, message: impl Into<String>) -> Self {
        Self { message: message.into(), option: Some(option.to_owned()) }
    }

    /// Of a script that is to run events.
    pub fn without_event(script: &str) -> Self {
        Self::new(format!("{script} defines no function `event`"))
    }
}

pub type Result<T = (), E = ScriptError> = std::result::Result<T, E>;

impl From<mlua::Error> for ScriptError {
    fn from(error: mlua::Error) -> Self {
        Self::new(text(&error))
    }
}

/// What to say of a script that has used its memory up.
pub(crate) fn no_memory() -> String {
    format!("the script of one client needs more than {} MiB of memory", MOST_MEMORY >> 20)
}

/// The message without Lua's list of calls: the first line says where it was.
fn text(error: &mlua::Error) -> String {
    match error {
        mlua::Error::CallbackError { cause, .. } => text(cause),
        // Where memory ends within the handling of an error.
        mlua::Error::RuntimeError(message) if message.starts_with("error in error handling") => {
            format!("error in error handling: probably {}", no_memory())
        }
        mlua::Error::RuntimeError(message) | mlua::Error::SyntaxError { message, .. } => {
            message.split("\nstack traceback:").next().unwrap_or_default().to_owned()
        }
        mlua::Error::MemoryError(_) => no_memory(),
        other => other.to_string(),
    }
}
