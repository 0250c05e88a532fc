//! How the numbers were made, in short.

use maud::{Markup, html};
use model::{Interleave, Placement, System};

use super::sections::part;
use super::table::folded;
use crate::format::{self, plural};
use crate::{Report, tables, transactions};

pub(super) fn methods(report: &Report<'_>) -> Markup {
    let is_imported = report.input.data.info.is_imported();
    let content = html! {
        details {
        summary { "How the numbers were made" }
        ul.prose {
            @if is_imported {
                li { "Another tool measured these numbers, and backslide imported them. The order of measurement and other load on the host are unknown. The first value of a step of each system makes the first round, and so on, unless the files number their rounds." }
            } @else {
                li { "A round runs every system once, in random order; every second round reverses the order of the one before. Systems are compared within a round, so a disturbance of the whole round affects both sides." }
            }
            @for text in course(report) { li { (text) } }
            @if !is_imported { li { (placement(report)) } }
            @if report.input.data.info.plan.template {
                li { "Each system was loaded once; every trial began with a clone of that data, read through once before its first step. Loads are not results; the provenance of the trials has their figures." }
            }
            li { "A ratio is the geometric mean of the rounds' ratios of candidate to base. Its interval covers the true ratio with 95 % probability, from the spread between rounds; seconds within a round are not replicates." }
            li { "Regressed and improved: the interval excludes 1, the adjusted p-value (q) is small, and the change is larger than the metric's margin. Unchanged: the whole interval lies within the margin. Where more is better and the candidate has zero in every round, it fell to zero, which counts as regressed. Everything else is inconclusive, with what would decide it." }
            li { "q is adjusted for false discoveries over all steps of a metric and system." }
            li {
                "Absolute values are medians over the rounds. "
                @if report.input.data.counts_disturbed() {
                    "Completed and quarantined trials count, because too few rounds were undisturbed."
                } @else {
                    "Only completed trials count."
                }
            }
            @if is_imported {
                li { "Costs come from the files and cover the whole host, including the client." }
            } @else {
                li { "Costs are differences of counters at the two edges of a step's measured window, divided by the operations in it. Server and client costs are separate; the host's include both." }
            }
            li { "Service time runs from sending to the complete reply. Response time runs from the scheduled start of the operation, so waiting behind a stall counts." }
            @if report.groups.iter().any(|group| !group.title.is_empty()) {
                li { "Steps are listed by group, and the groups of the published microbenchmarks keep their published order. The interval of a group's geometric mean is computed from the rounds: it shows how precisely the mean of these tests is known." }
            }
            @if report.sweep.is_some() {
                li { "A system passes the base where it is certainly slower at one number of clients and certainly faster at a higher one. Each round yields one crossing, interpolated linearly in the logarithm of the clients; its interval is computed from the rounds, like every other. Scale-up compares a system with itself at the smallest number of clients, within each round." }
            }
            @if transactions::spec(report).is_some() {
                li { "tpmc counts every New-Order completed within the window, including those rolled back on purpose, as tpcc-mysql does; nopm excludes these. Costs per operation are per completed New-Order and include the other four kinds. After the load and after the last step, backslide checked the twelve consistency conditions and more; tables exclude trials that fail one." }
            }
            li { "Charts over time sum all clients; where a step is long, several seconds share a point." }
        }
        }
        (folded(&report.metrics()))
    };
    part("methods", "Methods", &content)
}

/// How the rounds were carried out, where a plan asks for more than a number of them.
fn course(report: &Report<'_>) -> Vec<String> {
    let plan = &report.input.data.info.plan;
    let course = &plan.course;
    let all = if course.pairs { "both" } else { "all" };
    let mut texts = Vec::new();
    match course.interleave {
        Interleave::Trials => {}
        Interleave::Slices(length) => texts.push(format!(
            "In steps that change no data, {all} systems of a round run at once and take turns in slices of {length}. Each slice is compared with its neighbours; slices are not rounds."
        )),
        Interleave::Turns(length) => {
            texts.push(format!(
                "In every step, {all} systems of a round run at once and take turns of at most {length}. A server is frozen outside its turns; its times and costs are those of its own turns. Each turn is compared with its neighbours; turns are not rounds."
            ));
            texts.extend(plan.never_frozen().map(|System { name, .. }| format!(
                "In rounds with {name}, which backslide must not freeze, only steps that change no data take turns. In the other steps, one system after the other runs the whole step."
            )));
        }
    }
    if course.pairs {
        texts.push(format!(
            "Each round holds the base and one other system, because not all systems run at once. Each other system has {}, and is compared with the base of its own rounds.",
            plural(plan.rounds_of_each() as usize, "round")
        ));
    }
    if let Some(first) = plan.fewest_rounds() {
        texts.push(format!(
            "backslide looked at the run after {} and after each further one, and ended it as soon as every step was decided. The error probability is split over these looks, so repeated looks do not inflate false positives.",
            plural(first as usize, "round")
        ));
    }
    if let Some(limits) = course.quarantine {
        let times = plural(limits.reruns as usize, "time");
        let shares = [limits.steal_permille, limits.foreign_permille, limits.throttled_permille];
        let [steal, foreign, throttled] =
            shares.map(|permille| format::tick(f64::from(permille) / 10.0));
        let faults = match limits.major_faults {
            u32::MAX => String::new(),
            limit => format!(", or the server has more than {limit} major page faults a second"),
        };
        texts.push(format!(
            "backslide quarantines a trial, and re-runs its round at most {times}, if other guests take more than {steal} % of the host's CPU time, other processes take more than {foreign} % of one CPU, the control group is throttled for more than {throttled} % of the time, or more than {} pages a second are swapped in or out{faults}.",
            limits.swapped_pages
        ));
    }
    texts
}

fn placement(report: &Report<'_>) -> String {
    match tables::shared_placement(&report.input.data.info.plan.systems) {
        Some(words) if words == Placement::default().words() => {
            "Placement: free. The kernel chose the CPUs of server and client.".to_owned()
        }
        Some(words) => format!("Placement of every system: {words}."),
        None => "The systems have different placements: the table is under provenance.".to_owned(),
    }
}
