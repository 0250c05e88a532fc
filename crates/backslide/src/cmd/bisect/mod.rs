//! `backslide bisect`: which build changed a metric.
//!
//! Each measurement is a run of two systems: the good end, and one build. All that is known follows from the runs of
//! the lab that ask the same question. So an interrupted bisection loses nothing, and the same command continues it.

mod commits;
mod evidence;
mod ladder;
mod question;
mod told;

use std::path::Path;

use anyhow::{Result, anyhow};
use lab::{Builds, Lab};
use load::Stop;
use model::{Event, RunId, RunState};
use obtain::ObtainError;
use stats::Advice;

use self::evidence::Evidence;
use self::question::Question;
use super::run;
use crate::args::BisectArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::{disturbed, runs};

pub(crate) fn run(args: &BisectArgs, root: &Path, printer: Printer) -> Result<Exit> {
    let builds = Builds::of_user()?;
    let host = probes::identify(super::existing(root)?)?;
    let question = Question::of(args, &builds, host, printer)?;
    if args.dry_run {
        let lab = Lab::open_to_read(root).ok();
        let pairs = lab.map(|lab| Evidence::of(&question, &lab)).transpose()?;
        told::costs(&question, pairs.map_or(0, |evidence| evidence.pairs()), printer);
        return Ok(Exit::Fine);
    }
    let mut lab = Lab::open(root)?;
    let stop = Stop::default();
    let told = "\nstopping; a statement may take 2 s to end; ^C again stops at once";
    run::stop_on_signals(stop.clone(), printer, told, move || printer.note(told::CONTINUE))?;
    for run in question.runs(&lab, RunState::Unfinished)? {
        if let Err(error) = execute(&question, &run, (&mut lab, &stop), printer) {
            printer.note(&format!("run {run} is left as it is: {error:#}"));
        }
    }
    let mut evidence = Evidence::of(&question, &lab)?;
    told::begin(&question, &evidence, printer);
    while !stop.is_asked() {
        let advice = evidence.bisection.next(|place| question.seconds(place, evidence.has(place)));
        let place = match advice {
            Advice::Measure(place) if evidence.pairs() < args.pairs as usize => place,
            advice => return Ok(told::result(&question, &evidence, &advice, printer)),
        };
        measure(&question, place, &mut evidence, (&mut lab, &stop), printer)?;
    }
    printer.note(told::CONTINUE);
    Ok(Exit::Failed)
}

/// Measures two pairs of a build. A build between the ends that does not install or run is skipped.
fn measure(
    question: &Question<'_>,
    place: usize,
    evidence: &mut Evidence,
    (lab, stop): (&mut Lab, &Stop),
    printer: Printer,
) -> Result<()> {
    let offered = question.ladder.offer(place, question.builds);
    let plan = offered
        .and_then(|()| question.plan(place))
        .and_then(|file| run::expand_with(&file, question.builds, question.host.shape, printer));
    let failure = match plan {
        Ok(plan) => {
            let run = lab.begin(&plan, env!("CARGO_PKG_VERSION"))?;
            if let Err(error) = execute(question, &run, (lab, stop), printer) {
                // Refused before anything was measured: there is nothing to continue.
                lab.store.discard_run(&run)?;
                return Err(error);
            }
            if stop.is_asked() {
                return Ok(());
            }
            let data = lab.store.load(&run, runs::NUMBERS)?;
            disturbed::warn(&data, printer);
            let failure = evidence.add(question, &data)?;
            failure.map(|why| anyhow!("{why}; `backslide show {run}`"))
        }
        Err(error) => Some(error),
    };
    if let Some(error) = failure {
        let of_machine = error.downcast_ref().is_some_and(ObtainError::is_of_machine);
        if of_machine || !question.ladder.is_inner(place) {
            return Err(error);
        }
        evidence.skip(place, format!("{error:#}"));
    }
    told::measured(question, evidence, place, printer);
    Ok(())
}

/// Carries a run out, with warnings and without the rest that `run` prints.
fn execute(
    question: &Question<'_>,
    run: &RunId,
    (lab, stop): (&mut Lab, &Stop),
    printer: Printer,
) -> Result<()> {
    let warn = &mut |event: &Event| {
        if let Event::Warning { text } = event {
            printer.note(&format!("warning: {text}"));
        }
    };
    run::execute(lab, run, question.builds.secrets(), stop, Printer::new(true), warn)?;
    Ok(())
}
