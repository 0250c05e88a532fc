//! What several fuzz targets share: a plan file taken through everything that `backslide plan` asks of it.

use std::hint::black_box;
use std::sync::LazyLock;

use model::{Build, BuildFacts, BuildSource, Bytes, Cause, Dbms, HostShape};
use plan::{BuildRequest, Catalog, PlanError, PlanFile};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| match Catalog::embedded() {
    Ok(catalog) => catalog,
    Err(error) => panic!("the catalog cannot be read: {error}"),
});

const HOST: HostShape = HostShape { cpus: 2, memory: Bytes(8 << 30) };

/// Expands the plan, estimates it and collects its remarks. An error must name its place and print.
pub fn plan(file: Result<PlanFile, PlanError>) {
    let plan = file.and_then(|file| plan::expand(&file, &CATALOG, &build, HOST));
    match plan {
        Ok(plan) => {
            black_box(plan::estimate(&plan));
            black_box(plan::step_times(&plan));
            black_box(plan::remarks(&plan));
        }
        Err(error) => {
            black_box(error.to_string());
        }
    }
}

/// Every build is installed, in the version that the plan asks for.
fn build(request: &BuildRequest) -> Result<Build, Cause> {
    let dbms = request.dbms.unwrap_or(Dbms::Mysql);
    let version = match &request.version {
        Some(version) => version.to_string(),
        None => match dbms {
            Dbms::Mysql => "8.0.31",
            Dbms::Mariadb => "10.11.18",
            Dbms::Postgres => "15.18",
            _ => "3.51.1",
        }
        .to_owned(),
    };
    let source = match (&request.connect, dbms.is_embedded()) {
        (Some(_), _) => BuildSource::Connect("db1".to_owned()),
        (None, true) => BuildSource::Embedded,
        (None, false) => BuildSource::Path("/opt/server".to_owned()),
    };
    Ok(Build {
        dbms,
        version: version.parse()?,
        source,
        version_line: format!("{dbms} {version}"),
        name: None,
        facts: BuildFacts::default(),
    })
}
