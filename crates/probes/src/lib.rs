//! Costs of host, servers and client: /proc, disks, sizes; the host check-up.
//!
//! A [`Probe`] reads counters ([`model::Readings`]); [`all`] selects the ones that apply.
//! A probe that cannot read says so with an error and yields nothing: its counters are then absent,
//! never zero. A new probe is one file and one line in `PROBES`.

use model::Readings;

mod affinity;
mod client;
mod disk;
mod doctor;
mod error;
mod host;
mod identify;
mod listener;
mod mounts;
mod pmu;
mod pressure;
mod probe;
mod process;
mod read;
mod server;
mod sizes;
mod tree;

pub use affinity::{allowed, pin_self};
pub use doctor::{Finding, Noise, Status, examine, noise};
pub use error::ProbeError;
pub use host::cpu_busy;
pub use identify::{device_of_process, identify, nearly_full};
pub use listener::listener;
pub use probe::{Detail, Probe, Watch};
pub use sizes::measure;

/// Makes a probe, or nothing where there is nothing for it to watch.
type Maker = fn(&Watch) -> Option<Box<dyn Probe>>;

const PROBES: &[Maker] = &[
    |watch| Some(Box::new(server::ServerProbe::new(watch.server?))),
    |watch| Some(Box::new(server::ServerIoProbe::new(watch.server?))),
    |watch| Some(Box::new(pmu::PmuProbe::new(watch.server?)?)),
    |watch| (!watch.is_elsewhere).then(|| Box::new(client::ClientProbe) as Box<dyn Probe>),
    |watch| watch.host.then(|| Box::new(host::HostProbe) as Box<dyn Probe>),
    |watch| Some(Box::new(disk::DiskProbe { device: watch.device.clone()? })),
];

pub fn all(watch: &Watch) -> Vec<Box<dyn Probe>> {
    PROBES.iter().filter_map(|make| make(watch)).collect()
}

/// A process and all that descend from it, now.
pub fn processes(root: u32) -> Result<Vec<u32>, ProbeError> {
    Ok(tree::Tree::new(root).read(Detail::Edge)?.into_iter().map(|process| process.pid).collect())
}

/// Reads all probes; unreadable values are absent from the readings and listed in the errors.
pub fn read_all(probes: &mut [Box<dyn Probe>], detail: Detail) -> (Readings, Vec<ProbeError>) {
    let mut readings = Readings::default();
    let mut errors = Vec::new();
    for probe in probes {
        match probe.read(detail) {
            Ok(read) => readings.extend(read),
            Err(error) => errors.push(error),
        }
    }
    (readings, errors)
}

#[cfg(test)]
mod tests {
    use model::Counter;

    use super::*;

    #[test]
    fn only_what_is_watched_gets_a_probe() {
        let names = |watch: &Watch| -> Vec<_> { all(watch).iter().map(|p| p.name()).collect() };
        assert_eq!(names(&Watch::default()), ["client"]);
        let device = Some("sda".to_owned());
        let watch = Watch { host: true, server: Some(1), device, is_elsewhere: false };
        assert_eq!(names(&watch), ["server", "server-io", "client", "host", "disk"]);
        let watch = Watch { is_elsewhere: true, ..watch };
        assert_eq!(names(&watch), ["server", "server-io", "host", "disk"]);
    }

    #[test]
    fn a_probe_that_fails_leaves_its_counters_absent_and_the_others_alone() {
        let device = Some("no-such-device".to_owned());
        let watch = Watch { host: true, server: Some(u32::MAX), device, is_elsewhere: false };
        let (readings, errors) = read_all(&mut all(&watch), Detail::Edge);
        assert_eq!(errors.len(), 3, "{errors:?}");
        assert_eq!(readings.get(Counter::SERVER_CPU), None);
        assert_eq!(readings.get(Counter::SERVER_READ), None);
        assert_eq!(readings.get(Counter::DISK_WRITTEN), None);
        assert!(readings.get(Counter::CLIENT_CPU).is_some());
        assert!(readings.get(Counter::HOST_CPU).is_some());
    }
}
