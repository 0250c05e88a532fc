//! A command that is no result: `prepare`, `cleanup`, or another of the script.

use lua::Script;
use model::{COMMAND, KindSpec, LuaSpec, StepRecord};

use super::{CommandRun, failed, keep_printed, name, printed, program, with_printed};
use load::{
    Client, ClientContext, Clients, Notes, Observer, Result, StepError, bounded, fixed_work,
};

/// The commands that a script need not have.
pub(super) const OPTIONAL: [&str; 2] = [LuaSpec::PREPARE, "cleanup"];

impl CommandRun<'_> {
    /// Lets one client, or all, carry the command out.
    pub(super) fn command(&self, observer: &mut dyn Observer) -> Result<StepRecord> {
        let (program, mut seeds, notes) =
            (program(self.spec, self.command), self.seeds(), Notes::default());
        let clock = self.stop.clock();
        let first = self.load(&program, 0, &mut seeds)?;
        let clients = match first.command(self.command).map_err(failed(0))? {
            Some(true) => self.spec.clients,
            Some(false) => 1,
            None if OPTIONAL.contains(&self.command) => 0,
            None => {
                let (script, command) = (&self.spec.script, self.command);
                let message = format!("{script} has no command `{command}`");
                return Err(StepError::Unsupported(message));
            }
        };
        let mut scripts = vec![first];
        for number in 1..clients {
            scripts.push(self.load(&program, number, &mut seeds)?);
        }
        let command = (clients > 0).then(|| self.command.to_owned());
        let client = |(script, number): (Script, u32)| {
            let client =
                CommandClient { script, number, command: command.clone(), notes: notes.clone() };
            bounded(name(number), client)
        };
        let clients: Clients = scripts.into_iter().zip(0..).map(client).collect();
        let kinds = [KindSpec::unscheduled(COMMAND)];
        let done = fixed_work(&kinds, clients, &clock, self.stop, observer);
        let mut record = done.map_err(|error| with_printed(error, &notes))?;
        record.notes.extend(printed(&notes));
        Ok(record)
    }
}

struct CommandClient {
    script: Script,
    number: u32,
    /// `None` where the script has none.
    command: Option<String>,
    notes: Notes,
}

impl Client for CommandClient {
    fn run(&mut self, context: &mut ClientContext<'_>) -> Result {
        let Some(command) = &self.command else { return Ok(()) };
        let started = context.recorder.begin();
        let done = self.script.run_command(command);
        keep_printed(&self.script, &self.notes);
        if let Err(error) = done {
            context.recorder.failed(0, "script", false);
            return Err(if context.is_interrupted() {
                StepError::Interrupted
            } else {
                failed(self.number)(error)
            });
        }
        let mut sent = Vec::new();
        self.script.sent(&mut sent);
        let rows = sent.iter().map(|sent| sent.rows).sum();
        context.recorder.done(0, started, None, rows);
        Ok(())
    }
}
