//! A simulated lab: tests at several numbers of clients, a base and a candidate, rounds.

use model::Rng;
use testkit::Measured;

const TESTS: usize = 32;
pub(crate) const CLIENTS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const ROUNDS: usize = 12;
/// The test that has the effect, if there is one. Its scatter is the middle one.
pub(crate) const AFFECTED: usize = TESTS / 2;
/// So many times as much as the quietest test does the noisiest one scatter.
const SPREAD: f64 = 3.0;

/// A lab's method, noise and true effects. Deviations are of logarithms.
pub(crate) struct Truth {
    /// Of a value around its round, in the middle test.
    pub(crate) own: f64,
    /// Of changes over time, independent of the system.
    pub(crate) drift: f64,
    pub(crate) order: Order,
    /// The affected test's true ratio at a number of clients.
    pub(crate) effect: fn(u32) -> f64,
}

/// When the systems are measured.
pub(crate) enum Order {
    /// Both in each round: they share the round's drift.
    Interleaved,
    /// All rounds of the base, later all of the candidate: the drift lies between them.
    OneAfterTheOther,
}

/// The tests, each at every number of [`CLIENTS`].
pub(crate) fn simulate(truth: &Truth, rng: &mut Rng) -> Vec<Vec<Measured>> {
    let mut tests = Vec::with_capacity(TESTS);
    for test in 0..TESTS {
        let place = test as f64 / (TESTS - 1) as f64;
        let own = truth.own * SPREAD.powf(place - 0.5);
        let at = |clients| {
            let effect = if test == AFFECTED { (truth.effect)(clients) } else { 1.0 };
            measure(truth, clients, own, effect, rng)
        };
        tests.push(Vec::from(CLIENTS.map(at)));
    }
    tests
}

fn measure(truth: &Truth, clients: u32, own: f64, effect: f64, rng: &mut Rng) -> Measured {
    let mut measured = Measured {
        clients,
        base: Vec::with_capacity(ROUNDS),
        candidate: Vec::with_capacity(ROUNDS),
    };
    let halves = [normal(rng), normal(rng)];
    for _ in 0..ROUNDS {
        let round = normal(rng);
        let [of_base, of_candidate] = match truth.order {
            Order::Interleaved => [round, round],
            Order::OneAfterTheOther => halves,
        };
        let mut value = |drift: f64| {
            let log = truth.drift * drift + own * heavy_tailed(rng);
            rate(clients) * log.exp()
        };
        measured.base.push(value(of_base));
        measured.candidate.push(effect * value(of_candidate));
    }
    measured
}

/// Operations per second of a server with eight CPUs.
fn rate(clients: u32) -> f64 {
    let clients = f64::from(clients);
    10_000.0 * clients / (1.0 + clients / 8.0)
}

/// A standard normal number (Box & Muller 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// A number with Student's t distribution of four degrees of freedom, scaled to variance one.
fn heavy_tailed(rng: &mut Rng) -> f64 {
    let squares: f64 = (0..4).map(|_| normal(rng).powi(2)).sum();
    normal(rng) / (squares / 4.0).sqrt() / 2.0_f64.sqrt()
}
