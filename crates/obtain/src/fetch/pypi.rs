//! Wheels of `PyPI`, by `pip download`.

use std::path::{Path, PathBuf};

use super::client::Call;
use super::errand::{Errand, files_in, is_plain};
use super::error::{FetchError, Trouble};
use crate::error::ObtainError;

/// How the file names of a wheel of `name==version` begin; which platform follows, pip chooses.
fn beginning_of(requirement: &str) -> Result<String, FetchError> {
    let parts = requirement
        .split_once("==")
        .filter(|(name, version)| is_plain(name, "") && is_plain(version, "!"));
    match parts {
        // Names are the same whatever separates their words; file names have underscores there.
        Some((name, version)) => Ok(format!("{}-{version}-", same_name(name))),
        None => Err(FetchError::Coordinates {
            source_name: "PyPI",
            given: requirement.to_owned(),
            form: "name==version",
        }),
    }
}

fn same_name(name: &str) -> String {
    name.replace(['-', '.'], "_").to_ascii_lowercase()
}

fn is_wheel(file: &str, beginning: &str) -> bool {
    let (name, rest) = file.split_once('-').unwrap_or_default();
    Path::new(file).extension().is_some_and(|kind| kind == "whl")
        && format!("{}-{rest}", same_name(name)).starts_with(beginning)
}

pub(super) fn fetch(requirement: &str, errand: &mut Errand<'_>) -> Result<PathBuf, ObtainError> {
    let beginning = beginning_of(requirement)?;
    let wanted = |file: &str| is_wheel(file, &beginning);
    if let Some(archive) = files_in(&errand.into, wanted)?.pop() {
        return Ok(archive);
    }
    let program = errand.client(&["pip", "pip3"], "pip (Debian's package `python3-pip`)")?;
    let workplace = errand.workplace()?;
    let directory = workplace.path().to_owned();
    let mut call = Call::new(&program, &directory)
        .arguments(["download", "--no-deps", "--only-binary=:all:"])
        .arguments(["--disable-pip-version-check", "--no-input", "-d"])
        .argument(&directory)
        .argument(requirement);
    // What it has of the file so far, it keeps among temporary files.
    call.environment.push(("TMPDIR", directory.clone().into()));
    errand.run(&call)?;
    let Some(wheel) = files_in(&directory, wanted)?.pop() else {
        return Err(errand.failed(&call.name(), Trouble::NothingCame("the wheel".to_owned())));
    };
    let archive = errand.into.join(wheel.file_name().unwrap_or_default());
    errand.keep(&call, &wheel, archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_is_known_by_its_name_and_version() {
        let beginning = beginning_of("Some-tool.kit==0.17.2.1").unwrap();
        assert_eq!(beginning, "some_tool_kit-0.17.2.1-");
        for file in [
            "some_tool_kit-0.17.2.1-py3-none-any.whl",
            "Some_Tool.kit-0.17.2.1-py3-none-manylinux1_x86_64.whl",
        ] {
            assert!(is_wheel(file, &beginning), "{file}");
        }
        for file in [
            "some_tool_kit-0.17.2.10-py3-none-any.whl",
            "some_tool_kit-0.17.2.1-py3-none-any.whl.part",
            "other-0.17.2.1-py3-none-any.whl",
            "x.whl",
        ] {
            assert!(!is_wheel(file, &beginning), "{file}");
        }
    }

    #[test]
    fn what_is_no_requirement_is_refused() {
        for text in ["name", "name>=1", "-r x==1", "name==", "name==1 --x", "a/b==1"] {
            let error = beginning_of(text).unwrap_err().to_string();
            assert!(error.contains("name==version"), "{text}: {error}");
        }
    }
}
