use super::*;

/// A column of the microbenchmarks: ten groups of eleven digits.
const C: &str = "###########-###########-###########-###########-###########-\
                 ###########-###########-###########-###########-###########";

fn text(draw: &Draw, rng: &mut Rng) -> String {
    let mut out = String::new();
    Maker::new(draw).text(rng, 0, &mut out);
    out
}

fn template(text: &str) -> Draw {
    Draw::Template(text.to_owned())
}

/// Pearson's test: are all of these counts draws from the same chance?
fn are_alike(seen: &[u32]) -> bool {
    let expected = f64::from(seen.iter().sum::<u32>()) / seen.len() as f64;
    let square = |count: &u32| (f64::from(*count) - expected).powi(2) / expected;
    let freedom = seen.len() as f64 - 1.0;
    seen.iter().map(square).sum::<f64>() < freedom + 5.0 * (2.0 * freedom).sqrt()
}

#[test]
fn a_template_keeps_what_is_no_place() {
    let mut rng = Rng::new(1);
    for _ in 0..100 {
        let made = text(&template("a#-@@/##é0"), &mut rng);
        let shape: String = made
            .chars()
            .map(|c| match c {
                '0'..='9' => '#',
                'a'..='z' => '@',
                other => other,
            })
            .collect();
        assert_eq!(shape, "@#-@@/##é#");
        assert!(made.starts_with('a') && made.ends_with('0'));
    }
    assert_eq!(text(&template(""), &mut rng), "");
}

#[test]
fn every_place_of_a_template_is_evenly_spread_and_so_are_neighbours() {
    let maker = Maker::new(&template(C));
    let mut rng = Rng::new(2);
    let mut out = String::new();
    let mut places = vec![[0u32; 10]; C.len()];
    let mut neighbours = vec![0u32; 100];
    let mut apart = vec![0u32; 100];
    for _ in 0..20_000 {
        out.clear();
        maker.text(&mut rng, 0, &mut out);
        assert_eq!(out.len(), 119);
        let digits: Vec<usize> = out.bytes().map(|b| usize::from(b) - usize::from(b'-')).collect();
        for (place, digit) in digits.iter().enumerate() {
            if *digit == 0 {
                assert_eq!(place % 12, 11, "{out}");
            } else {
                places[place][digit - 3] += 1;
            }
        }
        neighbours[(digits[1] - 3) * 10 + digits[2] - 3] += 1;
        // The last digit of one random number and the first of the next.
        apart[(digits[16] - 3) * 10 + digits[17] - 3] += 1;
    }
    for (place, seen) in places.iter().enumerate() {
        assert!(place % 12 == 11 || are_alike(seen), "place {place}: {seen:?}");
    }
    assert!(are_alike(&neighbours) && are_alike(&apart));
}

#[test]
fn letters_and_random_text_are_evenly_spread() {
    let mut rng = Rng::new(3);
    let mut letters = vec![0; 26];
    let mut characters = vec![0; 36];
    let mut lengths = vec![0; 5];
    let many = template(&"@".repeat(1000));
    let some = Draw::Text { min: 3, max: 7 };
    for _ in 0..2000 {
        for letter in text(&many, &mut rng).bytes() {
            letters[usize::from(letter - b'a')] += 1;
        }
        let made = text(&some, &mut rng);
        lengths[made.len() - 3] += 1;
        for character in made.bytes() {
            let place = match character {
                b'0'..=b'9' => character - b'0' + 26,
                _ => character - b'a',
            };
            characters[usize::from(place)] += 1;
        }
    }
    assert!(are_alike(&letters) && are_alike(&characters) && are_alike(&lengths));
    let long = Draw::Text { min: 1000, max: 1000 };
    assert_eq!(text(&long, &mut rng).len(), 1000);
    assert_eq!(text(&Draw::Text { min: 0, max: 0 }, &mut rng), "");
}

#[test]
fn a_long_template_is_made_whole() {
    // Two bytes each, so that no chunk ends where it would without them.
    let shape = "é#".repeat(200);
    let made = text(&template(&shape), &mut Rng::new(4));
    let digits = made.chars().filter(char::is_ascii_digit).count();
    assert_eq!((made.chars().count(), digits), (400, 200));
}

#[test]
fn decimals_have_their_digits_after_the_point() {
    let table = [
        (0, 2, "0.00"),
        (5, 2, "0.05"),
        (-5, 2, "-0.05"),
        (1250, 2, "12.50"),
        (-1250, 0, "-1250"),
        (7, 1, "0.7"),
        (i64::MIN, 3, "-9223372036854775.808"),
        (42, 20, "0.00000000000000000042"),
    ];
    for (units, scale, expected) in table {
        let draw = Draw::Decimal { low: units, high: units, scale };
        assert_eq!(text(&draw, &mut Rng::new(1)), expected);
    }
}

#[test]
fn dates_are_those_of_the_calendar() {
    let table = [
        (0, "1970-01-01 00:00:00"),
        (-1, "1969-12-31 23:59:59"),
        (951_782_399, "2000-02-28 23:59:59"),
        (951_782_400, "2000-02-29 00:00:00"),
        (951_868_800, "2000-03-01 00:00:00"),
        (4_107_542_399, "2100-02-28 23:59:59"),
        (4_107_542_400, "2100-03-01 00:00:00"),
        (1_795_255_200, "2026-11-21 10:00:00"),
        (i64::MIN, "0001-01-01 00:00:00"),
        (i64::MAX, "9999-12-31 23:59:59"),
    ];
    for (seconds, expected) in table {
        let draw = Draw::Datetime { low: seconds, high: seconds };
        assert_eq!(text(&draw, &mut Rng::new(1)), expected);
    }
}

#[test]
fn days_follow_each_other_for_four_centuries() {
    let mut expected = (1970, 1, 1);
    for day in 0..146_097 {
        assert_eq!(civil(day), expected, "day {day}");
        let (year, month, of_month) = &mut expected;
        let is_leap =
            year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
        let last = match *month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        *of_month += 1;
        if *of_month > last {
            (*of_month, *month) = (1, *month + 1);
        }
        if *month > 12 {
            (*month, *year) = (1, *year + 1);
        }
    }
    assert_eq!(expected, (2370, 1, 1));
}

#[test]
fn numbers_are_integers_and_follow_the_row_where_they_should() {
    let mut rng = Rng::new(5);
    let mut int = |draw: Draw, row| Maker::new(&draw).int(&mut rng, row);
    assert_eq!(int(Draw::Row, 7), 7);
    assert_eq!([1, 9, 10].map(|row| int(Draw::Cycle(10), row)), [2, 10, 1]);
    assert_eq!(int(Draw::Cycle(0), 3), 1);
    assert_eq!(int(Draw::From(-4), 3), -4);
    let by = Distribution::Uniform;
    let drawn = int(Draw::Int { low: 3, high: 5, by }, 1);
    assert!((3..=5).contains(&drawn));
    assert_eq!(int(Draw::Fixed("x".to_owned()), 1), 0);
    assert_eq!(text(&Draw::From(-4), &mut rng), "-4");
}

#[test]
fn each_draw_has_the_type_of_its_values() {
    let (low, high) = (0, 1);
    let table = [
        (Draw::Row, ParamType::Int),
        (Draw::Cycle(2), ParamType::Int),
        (Draw::From(1), ParamType::Int),
        (Draw::Next, ParamType::Int),
        (template("#"), ParamType::Text),
        (Draw::Text { min: 1, max: 2 }, ParamType::Text),
        (Draw::Fixed(String::new()), ParamType::Text),
        (Draw::Decimal { low, high, scale: 2 }, ParamType::Decimal),
        (Draw::Datetime { low, high }, ParamType::DateTime),
    ];
    for (draw, expected) in table {
        let maker = Maker::new(&draw);
        assert_eq!(maker.param_type(), expected, "{draw:?}");
        assert_eq!(maker.is_text(), expected != ParamType::Int);
    }
}

#[test]
fn the_first_values_are_pinned() {
    // A change of these lines is a change of everybody's data.
    let mut rng = Rng::new(42);
    assert_eq!(text(&template("###########-@@@@"), &mut rng), "74156487877-eecp");
    assert_eq!(text(&Draw::Text { min: 8, max: 12 }, &mut rng), "mocuip79h");
}

#[test]
fn a_seal_tells_texts_of_clients_from_all_others() {
    for template in [
        "###########-###########-###########",
        "@@########################",
        "id ##################### of #### (#)",
        "###############################   ",
    ] {
        let draw = Draw::Template(template.to_owned());
        let (sealed, plain) = (Maker::sealed(&draw), Maker::new(&draw));
        let seal = Seal::of(template).unwrap();
        let mut rng = Rng::new(7);
        let mut made = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let (mut text, mut other) = (String::new(), String::new());
            sealed.text(&mut rng, 0, &mut text);
            plain.text(&mut rng, 0, &mut other);
            assert_eq!(text.len(), template.len());
            assert!(seal.holds(text.as_bytes()), "{text}");
            // As a CHAR comes back.
            assert!(seal.holds(format!("{text}  ").as_bytes()));
            assert!(!seal.holds(other.as_bytes()), "{other}");
            for (place, byte) in text.bytes().enumerate() {
                if byte.is_ascii_digit() {
                    let mut damaged = text.clone().into_bytes();
                    damaged[place] = b'0' + (byte - b'0' + 1) % 10;
                    assert!(!seal.holds(&damaged), "{text}");
                }
            }
            let reversed: Vec<u8> = text.bytes().rev().collect();
            assert!(!seal.holds(&reversed) && !seal.holds(b"") && !seal.holds(b"x"));
            made.insert(text);
        }
        assert_eq!(made.len(), 200);
    }
}

#[test]
fn short_templates_are_not_sealed() {
    for template in ["", "no digits", "#######################", "########################@"] {
        assert!(Seal::of(template).is_none(), "{template}");
        let draw = Draw::Template(template.to_owned());
        let text = |maker: &Maker| {
            let mut text = String::new();
            maker.text(&mut Rng::new(1), 0, &mut text);
            text
        };
        assert_eq!(text(&Maker::sealed(&draw)), text(&Maker::new(&draw)));
    }
}
