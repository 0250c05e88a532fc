//! The values of an operation: how they come about, and the memory that holds them until it is done.

use std::ops::Range;

use drivers::{Param, ParamType};
use model::{Dialect, Draw, Rng, SqlBlock, SqlDraw};

use data::{Maker, RowCounts};
use load::{Result, StepError};

/// A draw of a block, ready to be made.
#[derive(Debug)]
pub(super) struct Drawn {
    source: Source,
    pub(super) place: Place,
}

/// Where the values of a draw stand among those of its block, integers and texts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) kind: ParamType,
}

#[derive(Debug)]
enum Source {
    Made(Maker),
    /// This integer and those after it.
    From(i64),
    Plus {
        of: Place,
        add: i64,
    },
    Next,
}

impl Place {
    pub(super) fn is_text(&self) -> bool {
        self.kind != ParamType::Int
    }
}

pub(super) fn draws(block: &SqlBlock, dialect: Dialect) -> Result<(Vec<Drawn>, Base)> {
    let mut width = Base::default();
    let mut draws: Vec<Drawn> = Vec::with_capacity(block.draws.len());
    for draw in &block.draws {
        let (source, kind) = source(draw, &draws, dialect)?;
        let count = draw.count as usize;
        let end = match kind {
            ParamType::Int => &mut width.ints,
            ParamType::Text | ParamType::DateTime | ParamType::Decimal => &mut width.texts,
        };
        let place = Place { first: *end, count, kind };
        *end += count;
        draws.push(Drawn { source, place });
    }
    Ok((draws, width))
}

fn source(draw: &SqlDraw, before: &[Drawn], dialect: Dialect) -> Result<(Source, ParamType)> {
    let refused =
        |why: &str| Err(StepError::Unsupported(format!("the value `{}` {why}", draw.name)));
    match &draw.draw {
        Draw::From(first) => Ok((Source::From(*first), ParamType::Int)),
        Draw::Next => Ok((Source::Next, ParamType::Int)),
        Draw::Plus { of, add } => match before.get(*of as usize) {
            Some(other) if !other.place.is_text() && other.place.count > 0 => {
                let of = other.place;
                Ok((Source::Plus { of, add: *add }, ParamType::Int))
            }
            Some(_) | None => refused("adds to one that is not an integer or comes after it"),
        },
        Draw::Row | Draw::Cycle(_) => refused("counts rows, which only loading does"),
        Draw::Fixed(text) | Draw::Template(text)
            if dialect == Dialect::Postgres && text.contains('\0') =>
        {
            refused("has a NUL, which no text of this database can hold")
        }
        Draw::Int { .. }
        | Draw::Template(_)
        | Draw::Text { .. }
        | Draw::Fixed(_)
        | Draw::Decimal { .. }
        | Draw::Datetime { .. } => {
            let maker = Maker::sealed(&draw.draw);
            let kind = maker.param_type();
            Ok((Source::Made(maker), kind))
        }
    }
}

/// Where the values of one sending of a block's statements begin; also how many values of each sort a block makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) ints: usize,
    pub(super) texts: usize,
}

/// The values of one operation. They stay until it succeeds or is given up: each try sends the same.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// The integers in the form in which they are sent.
    ints: Vec<Param<'static>>,
    texts: Vec<Range<u32>>,
    text: String,
}

impl Values {
    /// Forgets all of them; the memory stays.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.ints.clear();
        self.texts.clear();
        self.text.clear();
    }

    /// Makes the values of `draws` anew, after those that are there.
    #[inline]
    pub(super) fn draw(&mut self, draws: &[Drawn], rng: &mut Rng, counts: &RowCounts) {
        let base = self.ints.len();
        for draw in draws {
            match &draw.source {
                Source::Made(maker) if draw.place.is_text() => {
                    for _ in 0..draw.place.count {
                        let start = self.text.len() as u32;
                        maker.text(rng, 0, &mut self.text);
                        self.texts.push(start..self.text.len() as u32);
                    }
                }
                // Most draws: a key.
                Source::Made(maker) if draw.place.count == 1 => {
                    self.ints.push(Param::Int(maker.int(rng, 0)));
                }
                Source::Made(maker) => {
                    let ints = (0..draw.place.count).map(|_| Param::Int(maker.int(rng, 0)));
                    self.ints.extend(ints);
                }
                Source::From(first) => {
                    let ints = (0..draw.place.count as i64).map(|n| first.wrapping_add(n));
                    self.ints.extend(ints.map(Param::Int));
                }
                Source::Next => {
                    let ints = (0..draw.place.count).map(|_| Param::Int(counts.next()));
                    self.ints.extend(ints);
                }
                Source::Plus { of, add } => {
                    for n in 0..draw.place.count {
                        let other = self.int(base + of.first + n.min(of.count - 1));
                        self.ints.push(Param::Int(other.wrapping_add(*add)));
                    }
                }
            }
        }
    }

    pub(super) fn ints(&self, base: Base, first: usize, count: usize) -> &[Param<'static>] {
        let first = base.ints + first;
        &self.ints[first..first + count]
    }

    pub(super) fn int(&self, at: usize) -> i64 {
        match self.ints[at] {
            Param::Int(value) => value,
            // Only integers are put there.
            Param::Text(_) | Param::Bytes(_) => 0,
        }
    }

    pub(super) fn text(&self, base: Base, place: Place, n: usize) -> &str {
        let Range { start, end } = self.texts[base.texts + place.first + n].clone();
        &self.text[start as usize..end as usize]
    }

    pub(super) fn numbers(&self, base: Base, place: Place) -> impl Iterator<Item = i64> {
        let first = base.ints + place.first;
        (first..first + place.count).map(|at| self.int(at))
    }
}
