//! The referees' verdicts, as Markdown.

use crate::verdict::{Cell, JUDGES, of_each};
use crate::word::Word;

const NOTES: &str = "\
backslide reads all rounds; it calls nothing of less than its margin, and says so where it cannot tell. The others \
read what they run: one round, here the first that all systems have, or ten, without which they have no verdict. None of them knows \
\"improved\": it is what they say of base and candidate exchanged. None knows \"inconclusive\": \"unchanged\" is \
whatever they do not find. All get interleaved rounds, which the tools that they are from do not have.
";

/// All cells that any rule calls changed, and a summary.
pub(crate) fn page(cells: &[Cell], control: &str) -> String {
    let (noise, judged): (Vec<&Cell>, Vec<&Cell>) =
        cells.iter().partition(|cell| cell.system == control);
    let mut text = summary(&judged, &noise);
    text.push('\n');
    text.push_str(NOTES);
    text.push('\n');
    text.push_str(&table(cells));
    let silent = cells.iter().filter(|cell| !is_called(cell)).count();
    if silent > 0 {
        let all = cells.len();
        let rest = format!("\nOf {all} cells, nobody calls a change in the other {silent}.\n");
        text.push_str(&rest);
    }
    text
}

fn is_called(cell: &Cell) -> bool {
    cell.words.iter().any(|word| word.is_change())
}

/// The name of each judge, and whether one round is all that it reads.
fn judges() -> [(&'static str, bool); JUDGES] {
    of_each(("backslide", false), |one| (one.name(), one.rounds() == 1))
}

fn summary(judged: &[&Cell], noise: &[&Cell]) -> String {
    let alarms = match noise.len() {
        0 => "false alarms: no control".to_owned(),
        cells => format!("false alarms, of {cells}"),
    };
    let counted = Word::ALL.map(|word| word.text().to_owned());
    let mut header = vec![format!("of {} cells", judged.len())];
    header.extend(counted);
    header.extend([
        "changes, round by round".to_owned(),
        alarms,
        "false alarms, round by round".to_owned(),
    ]);
    let mut text = line(&header);
    text.extend(["|---|", &"--:|".repeat(header.len() - 1), "\n"]);
    for (judge, (name, reads_one)) in judges().into_iter().enumerate() {
        let mut cells = vec![name.to_owned()];
        cells.extend(Word::ALL.map(|word| {
            let said = judged.iter().filter(|cell| cell.words[judge] == word);
            said.count().to_string()
        }));
        let alone = |cells: &[&Cell]| {
            if reads_one { by_round(cells, judge) } else { String::new() }
        };
        let false_alarms = noise.iter().filter(|cell| cell.words[judge].is_change());
        cells.extend([alone(judged), false_alarms.count().to_string(), alone(noise)]);
        text.push_str(&line(&cells));
    }
    text
}

/// How many cells a judge would call changed by each round alone: `3, 0, 5`.
fn by_round(cells: &[&Cell], judge: usize) -> String {
    let rounds = cells.iter().map(|cell| cell.by_round.len()).max();
    let counts = (0..rounds.unwrap_or(0)).map(|round| {
        let said = cells.iter().filter_map(|cell| cell.by_round.get(round));
        let changes = said.filter(|words| words[judge].is_change());
        changes.count().to_string()
    });
    counts.collect::<Vec<_>>().join(", ")
}

fn table(cells: &[Cell]) -> String {
    let mut header = vec!["step".to_owned(), "system".to_owned(), "ratio".to_owned()];
    header.extend(judges().map(|(name, _)| name.to_owned()));
    let mut text = line(&header);
    text.extend(["|---|---|--:|", &"---|".repeat(JUDGES), "\n"]);
    for cell in cells.iter().filter(|cell| is_called(cell)) {
        let ratio = cell.ratio.map(|ratio| format!("{ratio:.3}"));
        let mut row = vec![cell.test.clone(), cell.system.clone(), ratio.unwrap_or_default()];
        row.extend(cell.words.map(|word| word.text().to_owned()));
        text.push_str(&line(&row));
    }
    text
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::tests::judged;

    #[test]
    fn who_says_what_and_how_often_about_nothing() {
        let cells = judged(&[
            (
                "get",
                1,
                &[
                    ("old", &[100.0; 4], ""),
                    ("new|", &[90.0; 4], "regressed"),
                    ("control", &[94.0, 100.0, 101.0, 99.0], "inconclusive"),
                ],
            ),
            (
                "put",
                1,
                &[
                    ("old", &[100.0; 4], ""),
                    ("new|", &[100.0; 4], "unchanged"),
                    ("control", &[100.0; 4], "unchanged"),
                ],
            ),
        ]);
        let text = page(&cells, "control");
        let lines: Vec<&str> = text.lines().filter(|line| !NOTES.contains(line)).collect();
        assert_eq!(
            lines,
            [
                "| of 2 cells | regressed | improved | unchanged | no verdict | changes, round by round | false alarms, of 2 | false alarms, round by round |",
                "|---|--:|--:|--:|--:|--:|--:|--:|",
                "| backslide | 1 | 0 | 1 | 0 |  | 0 |  |",
                "| 5 % gate on single runs | 1 | 0 | 1 | 0 | 1, 1, 1, 1 | 1 | 1, 0, 0, 0 |",
                "| largest delta of all client counts, 5 % | 1 | 0 | 1 | 0 | 1, 1, 1, 1 | 1 | 1, 0, 0, 0 |",
                "| one mean weighted by clients, 2.5 % | 1 | 0 | 1 | 0 | 1, 1, 1, 1 | 1 | 1, 0, 0, 0 |",
                "| Mann–Whitney, 10 runs each, p ≤ 0.05 | 0 | 0 | 0 | 2 |  | 0 |  |",
                "| step | system | ratio | backslide | 5 % gate on single runs | largest delta of all client counts, 5 % | one mean weighted by clients, 2.5 % | Mann–Whitney, 10 runs each, p ≤ 0.05 |",
                "|---|---|--:|---|---|---|---|---|",
                "| get | new\\| | 0.900 | regressed | regressed | regressed | regressed | no verdict |",
                "| get | control | 0.940 | no verdict | regressed | regressed | regressed | no verdict |",
                "Of 4 cells, nobody calls a change in the other 2.",
            ]
        );
    }

    #[test]
    fn without_a_control_nobody_can_be_wrong() {
        let cells = judged(&[("get", 1, &[("a", &[1.0], ""), ("b", &[1.0], "unchanged")])]);
        assert!(page(&cells, "control").contains("| false alarms: no control |"));
    }
}
