//! The stylesheet of a picture. Colours have one home, the page's stylesheet; what shows pictures knows no
//! variables, so that they are put in here.

use crate::chart::style::COLOURS;

const PAGE: &str = include_str!("../../assets/report.css");
const CHART: &str = include_str!("../../assets/chart.css");

/// The rules, without comments and variables.
pub(super) fn style() -> String {
    let rules = CHART.split_once("*/").map_or(CHART, |(_, rules)| rules);
    let mut style = String::new();
    for line in rules.lines().filter(|line| !line.is_empty()) {
        let times = if line.contains("kN") { COLOURS } else { 1 };
        for place in 0..times {
            let line = line.replace("kN", &format!("k{place}")).replace("cN", &format!("c{place}"));
            style.push_str(&resolved(&line));
            style.push('\n');
        }
    }
    style
}

/// The rule with the page's light colours in the place of `var(--name)`.
fn resolved(rule: &str) -> String {
    let mut parts = rule.split("var(--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(')').unwrap_or((part, ""));
        text.push_str(light(name).unwrap_or("#000000"));
        text.push_str(rest);
    }
    text
}

/// A light colour: the first that the page's stylesheet gives that name.
fn light(name: &str) -> Option<&'static str> {
    let (_, from) = PAGE.split_once(&format!("--{name}: "))?;
    from.split_once(';').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_a_colour_of_the_page() {
        let names = CHART.split("var(--").skip(1);
        let names = names.map(|rest| rest.split_once(')').unwrap().0);
        for name in names.filter(|name| *name != "cN") {
            assert!(light(name).unwrap().starts_with('#'), "{name}");
        }
        assert!((0..COLOURS).all(|place| light(&format!("c{place}")).is_some()));
        assert_eq!(light("ink"), Some("#1d2126"));
        assert_eq!(light("none"), None);
    }

    #[test]
    fn what_is_left_is_plain() {
        let style = style();
        assert!(style.contains(".mark.k7 { fill: #a3553a; }"), "{style}");
        for unknown in ["var(", "kN", "cN", "currentColor", "light-dark", "@", "/*", "<", "&"] {
            assert!(!style.contains(unknown), "{unknown}");
        }
        let opened = style.matches('{').count();
        assert_eq!(opened, style.matches('}').count());
        assert!(opened > 2 * COLOURS);
    }
}
