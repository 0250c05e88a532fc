//! Lists of CPUs such as `0-3,8`.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Text that is not a list of CPUs, or names CPUs that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    #[error("`{part}` in the CPU list `{list}` is not a number or a range: write it as 0-3,8")]
    Part { part: String, list: String },
    #[error("the range `{part}` in the CPU list `{list}` ends before it starts")]
    Backwards { part: String, list: String },
    #[error(
        "CPU {cpu} in the CPU list `{list}` is too large: the last that can be named is {last}"
    )]
    TooLarge { cpu: usize, list: String, last: usize },
    #[error(
        "of the CPUs `{wanted}` this machine offers only `{offered}`: change the plan's `cpus`, or run it elsewhere"
    )]
    NotOffered { wanted: String, offered: String },
}

/// The CPUs that a list names, ascending and each once; none for an empty list, which means all.
pub fn parse_cpus(list: &str) -> Result<Vec<usize>, CpuListError> {
    let mut cpus = Vec::new();
    if list.trim().is_empty() {
        return Ok(cpus);
    }
    for part in list.split(',') {
        let bad = || CpuListError::Part { part: part.trim().to_owned(), list: list.to_owned() };
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| bad());
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if last < first {
            return Err(CpuListError::Backwards {
                part: part.trim().to_owned(),
                list: list.to_owned(),
            });
        }
        // Checked before the range is walked: `0-99999999999` must not fill the memory.
        if last >= CpuSet::MAX_CPU {
            return Err(CpuListError::TooLarge {
                cpu: last,
                list: list.to_owned(),
                last: CpuSet::MAX_CPU - 1,
            });
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// Why nothing can run on these CPUs here; `None` where it can.
pub fn refused_cpus(list: &str) -> Option<String> {
    cpu_set(list).err().map(|error| error.to_string())
}

/// The set for a list; `None` for an empty one.
///
/// The kernel silently leaves out CPUs that it cannot give. A throw-away thread moves there first and
/// looks where it is, so that a server is never measured on fewer CPUs than the plan says.
pub(crate) fn cpu_set(list: &str) -> Result<Option<CpuSet>, CpuListError> {
    let cpus = parse_cpus(list)?;
    if cpus.is_empty() {
        return Ok(None);
    }
    let mut set = CpuSet::new();
    for &cpu in &cpus {
        set.set(cpu);
    }
    let offered = std::thread::scope(|scope| {
        let mover = scope.spawn(|| {
            sched_setaffinity(None, &set)?;
            sched_getaffinity(None)
        });
        mover.join().ok().and_then(Result::ok)
    });
    let offered = offered.unwrap_or_default();
    let have: Vec<String> =
        cpus.iter().filter(|&&cpu| offered.is_set(cpu)).map(ToString::to_string).collect();
    if have.len() == cpus.len() {
        return Ok(Some(set));
    }
    Err(CpuListError::NotOffered {
        wanted: list.to_owned(),
        offered: if have.is_empty() { "none".to_owned() } else { have.join(",") },
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_and_ranges() {
        assert!(parse_cpus("").unwrap().is_empty());
        assert_eq!(parse_cpus("0-3,8").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(parse_cpus(" 5 , 1-2,2").unwrap(), [1, 2, 5]);
    }

    #[test]
    fn errors_name_the_part() {
        let message = |list: &str| parse_cpus(list).unwrap_err().to_string();
        insta::assert_snapshot!(message("0,x"), @"`x` in the CPU list `0,x` is not a number or a range: write it as 0-3,8");
        insta::assert_snapshot!(message("0,"), @"`` in the CPU list `0,` is not a number or a range: write it as 0-3,8");
        insta::assert_snapshot!(message("3-1"), @"the range `3-1` in the CPU list `3-1` ends before it starts");
        insta::assert_snapshot!(message("0-99999999999"), @"CPU 99999999999 in the CPU list `0-99999999999` is too large: the last that can be named is 1023");
    }

    #[test]
    fn cpus_that_do_not_exist_are_refused_and_existing_ones_are_not() {
        let first =
            (0..CpuSet::MAX_CPU).find(|&cpu| sched_getaffinity(None).unwrap().is_set(cpu)).unwrap();
        assert!(cpu_set(&first.to_string()).unwrap().unwrap().is_set(first));
        let message = cpu_set(&format!("{first},1023")).unwrap_err().to_string();
        assert!(message.contains(&format!("offers only `{first}`")), "{message}");
        assert!(cpu_set("1023").unwrap_err().to_string().contains("`none`"));
        assert!(cpu_set("").unwrap().is_none());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(list in "[0-9,x -]{0,12}") {
            if let Ok(cpus) = parse_cpus(&list) {
                prop_assert!(cpus.is_sorted_by(|a, b| a < b));
            }
        }
    }
}
