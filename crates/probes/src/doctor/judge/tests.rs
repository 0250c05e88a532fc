//! Each judgement at and beside its limits.

use super::*;
use crate::doctor::load::User;
use Status::{Bad, Good, Warn};

fn check(judgement: &Judgement, status: Status, found: &str) {
    assert_eq!((judgement.status, judgement.found.as_str()), (status, found));
    assert_eq!(judgement.advice.is_some(), status != Good, "{judgement:?}");
}

#[test]
fn clock_rate() {
    let governors =
        |names: &[&str]| governor(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
    check(&governors(&["performance"]), Good, "performance");
    check(&governors(&["schedutil"]), Warn, "schedutil");
    check(&governors(&["performance", "powersave"]), Warn, "performance, powersave");
    for is_on in [false, true] {
        let status = if is_on { Warn } else { Good };
        for fact in [Boost::IntelPstate { is_on }, Boost::Cpufreq { is_on }] {
            assert_eq!(boost(fact).status, status, "{fact:?}");
        }
    }
    let advice = |fact: Boost| boost(fact).advice.unwrap();
    assert!(advice(Boost::IntelPstate { is_on: true }).contains("echo 1 > "));
    assert!(advice(Boost::Cpufreq { is_on: true }).contains("echo 0 > "));
    check(&smt(false), Good, "off");
    check(&smt(true), Warn, "on");
}

#[test]
fn memory_and_swap() {
    for (mode, status) in [("never", Good), ("madvise", Good), ("always", Warn)] {
        check(&thp(mode), status, mode);
    }
    let swap_of = |total, used, swappiness| {
        swap(Swap { total: Bytes::from_mib(total), used: Bytes::from_mib(used), swappiness })
    };
    check(&swap_of(0, 0, 60), Good, "none");
    check(&swap_of(1024, 0, 1), Good, "0 B of 1.00 GiB used, swappiness 1");
    check(&swap_of(1024, 0, 60), Warn, "0 B of 1.00 GiB used, swappiness 60");
    check(&swap_of(1024, 1, 0), Warn, "1.00 MiB of 1.00 GiB used, swappiness 0");
    for (available, total, status) in [
        (8000, 16000, Good),
        (7999, 16000, Warn),
        (3200, 16000, Warn),
        (3199, 16000, Bad),
        (511, 600, Bad),
        (0, 0, Bad),
    ] {
        let fact = Memory { total: Bytes::from_mib(total), available: Bytes::from_mib(available) };
        assert_eq!(memory(fact).status, status, "{fact:?}");
    }
    check(&memory_limit(None), Good, "none");
    check(&memory_limit(Some(Bytes::from_mib(512))), Warn, "512 MiB");
}

#[test]
fn machine_and_clock() {
    check(&virtualization(None), Good, "none");
    check(&virtualization(Some("QEMU")), Warn, "QEMU");
    let clock = |current: &str, available: &str| {
        clock_source(&ClockSource {
            current: current.to_owned(),
            available: available.split(' ').map(str::to_owned).collect(),
        })
    };
    check(&clock("tsc", "tsc hpet"), Good, "tsc");
    check(&clock("kvm-clock", "kvm-clock tsc"), Good, "kvm-clock");
    check(&clock("hpet", "tsc hpet acpi_pm"), Bad, "hpet");
    check(&clock("acpi_pm", "acpi_pm"), Bad, "acpi_pm");
    check(&clock("xen", "xen tsc"), Warn, "xen");
    let advice = |current, available| clock(current, available).advice.unwrap();
    assert!(advice("hpet", "hpet tsc").contains("echo tsc > "));
    assert!(!advice("acpi_pm", "acpi_pm hpet").contains("echo"));
}

#[test]
fn load_of_others() {
    for (share, status) in
        [(0.0, Good), (0.0049, Good), (0.005, Warn), (0.049, Warn), (0.05, Bad), (1.0, Bad)]
    {
        assert_eq!(steal(Some(share)).status, status, "{share}");
    }
    let load = |others, top: &[(&str, f64)]| {
        other_load(&Load {
            steal: None,
            others,
            top: top
                .iter()
                .map(|(name, share)| User { name: (*name).to_owned(), share: *share })
                .collect(),
        })
    };
    check(&load(0.0, &[]), Good, "0.0 % of all CPUs");
    check(&load(0.019, &[("sshd", 0.004)]), Good, "1.9 % of all CPUs: sshd 0.4 %");
    check(&load(0.02, &[]), Warn, "2.0 % of all CPUs");
    check(
        &load(0.1, &[("rustc", 0.06), ("cargo", 0.03)]),
        Bad,
        "10.0 % of all CPUs: rustc 6.0 %, cargo 3.0 %",
    );
}

#[test]
fn disks() {
    let disk = |filesystem: &str, device: Option<&str>, free: u64| DiskFacts {
        device: device.map(str::to_owned),
        filesystem: filesystem.to_owned(),
        options: "rw".to_owned(),
        size: Bytes::from_mib(100 << 10),
        free: Bytes::from_mib(free << 10),
    };
    for (name, device, status) in [
        ("ext4", Some("sda1"), Good),
        ("xfs", Some("dm-0"), Good),
        ("zfs", None, Warn),
        ("overlay", None, Warn),
        ("tmpfs", None, Warn),
        ("nfs4", None, Bad),
    ] {
        assert_eq!(filesystem(&disk(name, device, 50)).status, status, "{name}");
    }
    check(&filesystem(&disk("ext4", Some("vda"), 50)), Good, "ext4 on vda (rw)");
    for (free, status) in [(50, Good), (10, Good), (9, Warn), (2, Warn), (1, Bad)] {
        let judgement = free_space(&disk("ext4", Some("vda"), free));
        assert_eq!(judgement.status, status, "{free}");
    }
    for (micros, status) in
        [(0, Warn), (19, Warn), (20, Good), (4_999, Good), (5_000, Warn), (20_000, Bad)]
    {
        let judgement = fsync(Duration::from_micros(micros));
        assert_eq!(judgement.status, status, "{micros}");
    }
    check(&fsync(Duration::from_micros(412)), Good, "412µs (median)");
}

#[test]
fn limits() {
    for (soft, hard, status) in [
        (None, None, Good),
        (Some(1024), Some(524_288), Good),
        (Some(256), None, Good),
        (Some(255), Some(524_288), Bad),
        (Some(1024), Some(4096), Warn),
    ] {
        let fact = OpenFiles { soft, hard };
        assert_eq!(open_files(fact).status, status, "{fact:?}");
    }
    check(&open_files(OpenFiles { soft: Some(1024), hard: None }), Good, "1024, at most unlimited");
    for (used, limit, status) in
        [(0, 65_536, Good), (49_152, 65_536, Good), (49_153, 65_536, Warn), (10, 5, Warn)]
    {
        assert_eq!(aio(Aio { used, limit }).status, status, "{used} {limit}");
    }
}
