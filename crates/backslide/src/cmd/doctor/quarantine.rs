//! Would trials be quarantined at the load that this host has now?

use lab::Beside;
use model::Quarantine;
use probes::{Finding, Status};

/// What the limits make of what happened on this host for a few seconds.
pub(super) fn at_this_load(beside: &Beside, limits: &Quarantine) -> Finding {
    let (status, found) = match (beside.over.is_empty(), beside.foreign_percent) {
        (false, _) => (
            Status::Bad,
            format!("trials would be set aside by the usual limits: {}", beside.over.join(", ")),
        ),
        (true, Some(percent)) => (
            Status::Good,
            format!(
                "no trial would be set aside by the usual limits: other processes took {percent:.1} % of one CPU \
                 (limit {} %)",
                f64::from(limits.foreign_permille) / 10.0
            ),
        ),
        (true, None) => {
            (Status::Unknown, "this host does not tell what other processes take".to_owned())
        }
    };
    Finding {
        name: "quarantine",
        status,
        found,
        advice: (status == Status::Bad).then(|| {
            "A disturbed round is run again a few times, and then it is lost. End what else runs; or write wider \
             limits into plans, such as `quarantine = { foreign_percent = 100 }`, or none: `quarantine = false`."
                .to_owned()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Quarantine = Quarantine {
        steal_permille: 100,
        foreign_permille: 300,
        throttled_permille: 100,
        swapped_pages: 256,
        major_faults: 1_000,
        reruns: 2,
    };

    fn found(over: &[&str], foreign_percent: Option<f64>) -> Finding {
        let over = over.iter().map(|&one| one.to_owned()).collect();
        let beside = Beside { over, foreign_percent };
        at_this_load(&beside, &LIMITS)
    }

    #[test]
    fn what_would_be_set_aside_is_bad_and_has_a_way_out() {
        let quiet = found(&[], Some(4.21));
        insta::assert_snapshot!(quiet.found, @"no trial would be set aside by the usual limits: other processes took 4.2 % of one CPU (limit 30 %)");
        assert_eq!((quiet.status, quiet.advice), (Status::Good, None));
        let busy = found(&["a took 80 %", "b took 20 %"], Some(80.0));
        insta::assert_snapshot!(busy.found, @"trials would be set aside by the usual limits: a took 80 %, b took 20 %");
        assert_eq!(busy.status, Status::Bad);
        assert!(busy.advice.unwrap().contains("`quarantine = false`"));
        let silent = found(&[], None);
        assert_eq!((silent.status, silent.advice), (Status::Unknown, None));
    }
}
