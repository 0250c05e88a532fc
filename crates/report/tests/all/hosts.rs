//! The hosts of a merged run, wherever they are told.

use model::{Host, HostRounds};
use report::Report;
use testkit::made_up::{self, Shape};

use crate::input;

#[test]
fn each_host_is_told_with_its_rounds_and_with_what_the_intervals_are_about() {
    let mut data = made_up::run(&Shape::usual());
    let told = |data: &model::RunData| {
        let report = input(data, &[]);
        (Report::new(&report).html(), Report::new(&report).markdown())
    };
    assert!(!told(&data).0.contains("Measured on "));
    for (name, rounds, says) in [
        ("n1", vec![1, 2], "Measured on 1 host"),
        ("n2", vec![3], "are about these two hosts only"),
        ("n3", vec![4], "the hosts are the replicates"),
    ] {
        let host = Host { name: name.to_owned(), ..data.info.host.clone() };
        data.info.hosts.push(HostRounds { host, rounds });
        let (page, _) = told(&data);
        assert!(page.contains(says), "{says}");
    }
    let (page, text) = told(&data);
    assert!(page.contains("Measured on 3 hosts") && page.contains("1, 2"));
    assert!(text.contains("on 3 hosts: n1 (AMD Ryzen 7 7840HS, 8 CPUs"), "{text}");
}
