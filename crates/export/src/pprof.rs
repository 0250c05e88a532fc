//! Sampled stacks in the format of pprof: `profile.proto`, compressed with gzip.

use std::collections::HashMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use model::{Nanos, ProfiledStep, Resource};

use crate::Result;

/// Writes the samples of one system in one step, over all its profiled rounds: their number, and the CPU time that they
/// stand for. Of sleep, with which that cannot be mixed, the time; of counted rounds the instructions. `about` becomes the comment.
pub fn pprof(rounds: &[&ProfiledStep], about: &str, out: impl Write) -> Result {
    let mut names = Names::default();
    // The first string is the empty one.
    names.place("");
    let mut profile = Message::default();
    let of = rounds.first().map_or(Resource::Cpu, |round| round.profile.of);
    let types: &[(&str, &str)] = match of {
        Resource::Cpu => &[("samples", "count"), ("cpu", "nanoseconds")],
        Resource::Sleep => &[("sleep", "nanoseconds")],
        Resource::Instructions => &[("instructions", "count")],
    };
    for (kind, unit) in types {
        profile.message(1, &value_type(&mut names, kind, unit));
    }
    let mut functions = Names::default();
    for round in rounds {
        for (stack, samples) in &round.profile.stacks {
            let mut sample = Message::default();
            // The innermost first; numbers of functions begin with one.
            sample.packed(1, stack.rsplit(';').map(|function| functions.place(function) + 1));
            let values = [*samples, cpu(round, *samples)];
            sample.packed(2, values.into_iter().take(types.len()));
            profile.message(2, &sample);
        }
    }
    for (place, function) in (1..).zip(functions.list) {
        let mut line = Message::default();
        line.number(1, place);
        let mut location = Message::default();
        location.number(1, place);
        location.message(4, &line);
        profile.message(4, &location);
        let mut named = Message::default();
        named.number(1, place);
        named.number(2, names.place(function));
        profile.message(5, &named);
    }
    profile.number(10, rounds.iter().map(|round| round.record.window.0).sum());
    if let Some((kind, unit)) = types.last() {
        profile.message(11, &value_type(&mut names, kind, unit));
    }
    // What is not sampled by time has no frequency.
    let hertz = rounds.first().map_or(0, |round| u64::from(round.profile.hertz));
    profile.number(12, Nanos::SECOND.0.checked_div(hertz).unwrap_or(1));
    profile.number(13, names.place(about));
    for name in names.list {
        profile.bytes(6, name.as_bytes());
    }
    let mut packed = GzEncoder::new(out, Compression::default());
    packed.write_all(&profile.0)?;
    packed.finish()?;
    Ok(())
}

fn value_type<'a>(names: &mut Names<'a>, kind: &'a str, unit: &'a str) -> Message {
    let mut value = Message::default();
    value.number(1, names.place(kind));
    value.number(2, names.place(unit));
    value
}

/// CPU time that so many of the samples stand for, in nanoseconds.
fn cpu(of: &ProfiledStep, samples: u64) -> u64 {
    let all = u128::from(of.profile.samples().max(1));
    u64::try_from(u128::from(of.cpu().0) * u128::from(samples) / all).unwrap_or(u64::MAX)
}

/// Texts that are written once.
#[derive(Default)]
struct Names<'a> {
    places: HashMap<&'a str, u64>,
    list: Vec<&'a str>,
}

impl<'a> Names<'a> {
    /// Counted from zero.
    fn place(&mut self, name: &'a str) -> u64 {
        let next = self.list.len() as u64;
        *self.places.entry(name).or_insert_with(|| {
            self.list.push(name);
            next
        })
    }
}

#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.bytes(field, &message.0);
    }

    fn packed(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let mut all = Self::default();
        values.for_each(|value| all.varint(value));
        self.message(field, &all);
    }

    /// Seven bits a byte, the lowest first; all but the last have the highest bit.
    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use flate2::read::GzDecoder;
    use model::{Counts, Profile, Step, StepId, StepRecord, Subject, TrialKey};

    use super::*;

    fn round(hertz: u32, stacks: &[(&str, u64)]) -> ProfiledStep {
        let of = if hertz == 0 { Resource::Instructions } else { Resource::Cpu };
        let subject = Subject { kind: "query".to_owned(), counts: Counts::Operations };
        let step = Step::new(StepId::new("qr100"), 3, 1, subject);
        let stacks = stacks.iter().map(|(stack, samples)| ((*stack).to_owned(), *samples));
        ProfiledStep {
            trial: TrialKey { round: 1, position: 1, system: "sqlite/wal".to_owned() },
            record: StepRecord::of(&step, Nanos::from_secs(2)),
            profile: Profile { of, hertz, stacks: stacks.collect(), ..Profile::default() },
        }
    }

    /// What a field holds.
    #[derive(Clone, Debug, PartialEq)]
    enum Field {
        Number(u64),
        Bytes(Vec<u8>),
    }

    impl Field {
        fn number(&self) -> u64 {
            let Self::Number(value) = self else { panic!("{self:?}") };
            *value
        }

        fn bytes(&self) -> &[u8] {
            let Self::Bytes(bytes) = self else { panic!("{self:?}") };
            bytes
        }
    }

    fn varint(bytes: &mut &[u8]) -> u64 {
        let end = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
        let (own, rest) = bytes.split_at(end + 1);
        *bytes = rest;
        own.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
    }

    fn numbers(mut bytes: &[u8]) -> Vec<u64> {
        let mut all = Vec::new();
        while !bytes.is_empty() {
            all.push(varint(&mut bytes));
        }
        all
    }

    fn decoded(mut bytes: &[u8]) -> BTreeMap<u64, Vec<Field>> {
        let mut fields: BTreeMap<u64, Vec<Field>> = BTreeMap::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => Field::Number(varint(&mut bytes)),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (own, rest) = bytes.split_at(length);
                    bytes = rest;
                    Field::Bytes(own.to_vec())
                }
                other => panic!("wire type {other}"),
            };
            fields.entry(key >> 3).or_default().push(value);
        }
        fields
    }

    fn of_rounds(rounds: &[&ProfiledStep]) -> BTreeMap<u64, Vec<Field>> {
        let (mut packed, mut bytes) = (Vec::new(), Vec::new());
        pprof(rounds, "run r1", &mut packed).unwrap();
        GzDecoder::new(&*packed).read_to_end(&mut bytes).unwrap();
        decoded(&bytes)
    }

    fn strings(profile: &BTreeMap<u64, Vec<Field>>) -> Vec<String> {
        let text = |field: &Field| String::from_utf8(field.bytes().to_vec()).unwrap();
        profile[&6].iter().map(text).collect()
    }

    #[test]
    fn stacks_come_back_as_they_were() {
        let long = format!("main;{}", "é".repeat(300));
        let stacks = [("main;run;sort", 3), ("main;run", 300), (long.as_str(), 1)];
        let (first, second) = (round(100, &stacks), round(100, &[("main;run", 5)]));
        let profile = of_rounds(&[&first, &second]);
        let strings = strings(&profile);
        let string = |field: &Field| strings[field.number() as usize].clone();
        let functions = profile[&5].iter().map(|field| decoded(field.bytes()));
        let functions: BTreeMap<u64, String> =
            functions.map(|one| (one[&1][0].number(), string(&one[&2][0]))).collect();
        let locations = profile[&4].iter().map(|field| decoded(field.bytes()));
        let locations: BTreeMap<u64, String> = locations
            .map(|one| {
                let line = decoded(one[&4][0].bytes());
                (one[&1][0].number(), functions[&line[&1][0].number()].clone())
            })
            .collect();
        let samples = profile[&2].iter().map(|field| {
            let sample = decoded(field.bytes());
            let inner = numbers(sample[&1][0].bytes());
            let stack: Vec<&str> = inner.iter().rev().map(|id| locations[id].as_str()).collect();
            (stack.join(";"), numbers(sample[&2][0].bytes()))
        });
        // A sample is 10 ms at 100 Hz.
        let wanted = [
            ("main;run;sort", vec![3, 30_000_000]),
            ("main;run", vec![300, 3_000_000_000]),
            (&long, vec![1, 10_000_000]),
            ("main;run", vec![5, 50_000_000]),
        ];
        let wanted = wanted.map(|(stack, values)| (stack.to_owned(), values));
        assert_eq!(samples.collect::<Vec<_>>(), wanted);
        let types = profile[&1].iter().map(|field| decoded(field.bytes()));
        let types: Vec<[String; 2]> =
            types.map(|one| [string(&one[&1][0]), string(&one[&2][0])]).collect();
        assert_eq!(
            types,
            [["samples", "count"], ["cpu", "nanoseconds"]].map(|pair| pair.map(str::to_owned))
        );
        assert_eq!(profile[&10][0].number(), 4_000_000_000);
        assert_eq!(profile[&12][0].number(), 10_000_000);
        assert_eq!(string(&profile[&13][0]), "run r1");
        assert_eq!(strings[0], "");
    }

    #[test]
    fn counted_rounds_have_instructions() {
        let profile = of_rounds(&[&round(0, &[("main;run", 70_000)])]);
        let strings = strings(&profile);
        let string = |field: &Field| strings[field.number() as usize].clone();
        let [one] = &*profile[&1] else { panic!("one type of value") };
        let one = decoded(one.bytes());
        assert_eq!([string(&one[&1][0]), string(&one[&2][0])], ["instructions", "count"]);
        let sample = decoded(profile[&2][0].bytes());
        assert_eq!(numbers(sample[&2][0].bytes()), [70_000]);
        assert_eq!(profile[&12][0].number(), 1);
    }

    #[test]
    fn without_rounds_the_profile_is_empty() {
        assert_eq!(of_rounds(&[]).get(&2), None);
    }
}
