//! Tests of the whole crate: text in, plan or error out. Here: a host and the builds that are found on it.

mod arguments;
mod builds;
mod catalog;
mod configs;
mod configs_rules;
mod course;
mod errors;
mod every_key;
mod expand;
mod keys;
mod load_hosts;
mod micro;
mod overrides;
mod placement;
mod tpcc;
mod tpcc_errors;
mod warm_up;
mod workload_errors;
mod workloads;

use std::sync::LazyLock;

use crate::{BuildRequest, Catalog, PlanError};
use model::{Build, BuildSource, Bytes, Cause, Dbms, HostShape, Plan, WorkloadSpec};

/// Read once: it is large, and some tests need it for each of many cases.
pub(super) static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::embedded().unwrap());

/// Two cores and 8 GiB.
pub(super) const HOST: HostShape = HostShape { cpus: 2, memory: Bytes(8 << 30) };

/// What a request finds: one version of each Dbms, MySQL in none.
pub(super) fn find(request: &BuildRequest) -> Result<Build, Cause> {
    let version = match request.dbms {
        _ if !request.is_general() => return Err("there is no build of that name".into()),
        None => return Err("it names no family".into()),
        Some(Dbms::Mysql) => return Err("no mysqld in PATH; give its `path`".into()),
        Some(Dbms::Mariadb) => "10.11.18",
        Some(Dbms::Postgres) => "15.18",
        Some(_) => "3.51.1",
    };
    Ok(build(request, version))
}

/// The build that answers a request with this version.
pub(super) fn build(request: &BuildRequest, version: &str) -> Build {
    let dbms = request.dbms.unwrap();
    let source = match (&request.connect, dbms) {
        (Some(_), _) => BuildSource::Connect("db1".to_owned()),
        (None, Dbms::Sqlite) if request.version.is_none() => BuildSource::Embedded,
        (None, _) => BuildSource::Path("/opt/server".to_owned()),
    };
    Build {
        version_line: format!("{dbms} {version}"),
        ..Build::new(dbms, version.parse().unwrap(), source)
    }
}

/// The statements of a workload, or of a plan's: the spec of one of SQL.
pub(super) fn sql(plan: Plan) -> model::SqlSpec {
    match plan.workload {
        WorkloadSpec::Sql(spec) => spec,
        _ => panic!("it has no workload file"),
    }
}

/// The plan that runs `workload`, which is the text of a workload file.
pub(super) fn with_workload(plan: &str, workload: &str) -> Result<Plan, PlanError> {
    let file = crate::read(plan, "my.toml")?.with_workload_file(workload, "w.toml")?;
    crate::expand(&file, &CATALOG, &find, HOST)
}

/// Reads and expands a plan on the host above.
pub(super) fn expand(text: &str) -> Result<Plan, PlanError> {
    let file = crate::read(text, "my.toml")?;
    crate::expand(&file, &CATALOG, &find, HOST)
}
