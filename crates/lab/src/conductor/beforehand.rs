//! Checks before the first trial, so that trials do not fail one after the other.

use std::path::Path;

use model::{BuildSource, Plan, System};

use crate::LabError;
use crate::capacity::raise_limits_of;
use crate::directory::TRYOUT;
use crate::kept;
use crate::reach;
use crate::site::Provider;

/// Every system that is still to be measured must be what the plan says and take as many sessions as the
/// workload opens, and so must this process: a wrong password or an upgraded package is an error at once.
pub(super) fn check(plan: &Plan, left: &[usize], provider: &dyn Provider) -> Result<(), LabError> {
    for system in systems(plan, left) {
        let is_ours = !matches!(system.build.source, BuildSource::Connect(_));
        let checked =
            provider.check(system).and_then(|()| provider.capacity(system)).and_then(|capacity| {
                match capacity {
                    Some(capacity) => capacity.check(&plan.steps, is_ours),
                    None => Ok(()),
                }
            });
        checked.map_err(|cause| refused(system, cause))?;
    }
    raise_limits_of(plan, &systems(plan, left).collect::<Vec<_>>())
}

/// Sessions over TCP, encrypted or compressed are tried on a server of ours that is started for it: whether
/// a build can do that is not known before.
pub(super) fn try_connections(
    plan: &Plan,
    left: &[usize],
    provider: &dyn Provider,
    instances: &Path,
    logs: &Path,
) -> Result<(), LabError> {
    for system in systems(plan, left) {
        if !(system.has_server() && reach::is_negotiated(system.connection)) {
            continue;
        }
        let name = format!("{TRYOUT}{}", std::process::id());
        let opened = provider.open(system, plan.statement_timeout(), &instances.join(&name), None);
        let tried = match opened {
            Ok(site) => kept::end_after(site, logs, &name, Ok(())),
            Err(error) => Err(kept::settle(error, logs, &name)),
        };
        tried.map_err(|error| refused(system, error.reason))?;
    }
    Ok(())
}

/// The systems that still have trials, in the plan's order.
fn systems<'a>(plan: &'a Plan, left: &'a [usize]) -> impl Iterator<Item = &'a System> {
    let all = plan.systems.iter().enumerate();
    all.filter(move |(index, _)| left.contains(index)).map(|(_, system)| system)
}

fn refused(system: &System, cause: String) -> LabError {
    LabError::System { system: system.name.clone(), cause }
}
