//! Words of placement, as a plan on a host of two CPUs expands them.

use insta::assert_snapshot;

use super::{CATALOG, HOST, expand, find};

const SERVER: &str = "build = \"mariadb\"";
const EMBEDDED: &str = "build = \"sqlite\"";
const THERE: &str = "build = \"mariadb\"\nconnect = \"me@db1\"";

fn text(top: &str, system: &str) -> String {
    format!(
        "name = \"p\"\nrounds = 3\nworkload = {{ kind = \"insert\", scale = \"tiny\" }}\n{top}\n\
         [[system]]\n{system}\n"
    )
}

/// The placement of the only system, in words.
fn placed(top: &str, system: &str) -> String {
    expand(&text(top, system)).unwrap().systems[0].placement()
}

fn error(top: &str, system: &str) -> String {
    expand(&text(top, system)).unwrap_err().to_string()
}

#[test]
fn a_word_places_what_there_is_of_a_system() {
    assert_eq!(placed("", SERVER), "free");
    assert_eq!(placed("placement = \"free\"", SERVER), "free");
    let together = "placement = \"together\"";
    assert_eq!(placed(together, SERVER), "together on CPU 1");
    assert_eq!(placed(together, EMBEDDED), "client on CPU 1");
    assert_eq!(placed(together, THERE), "client on CPU 1");
    let apart = "placement = \"apart\"";
    assert_eq!(placed(apart, SERVER), "apart: server 0, client 1");
    assert_eq!(placed(apart, EMBEDDED), "client on CPU 1");
}

#[test]
fn a_system_may_have_a_word_of_its_own() {
    let own = |word: &str| format!("{SERVER}\ncpus = \"{word}\"");
    assert_eq!(placed("", &own("together")), "together on CPU 1");
    assert_eq!(placed("placement = \"apart\"", &own("free")), "free");
    let lists = "placement = { server = \"0\", client = \"0\" }";
    assert_eq!(placed(lists, SERVER), "together on CPU 0");
    assert_eq!(placed(lists, &own("apart")), "apart: server 0, client 1");
    let embedded = format!("{EMBEDDED}\ncpus = \"apart\"");
    assert_eq!(placed("", &embedded), "client on CPU 1");
}

#[test]
fn words_choose_from_the_cpus_that_the_process_may_use() {
    let placed = |word: &str, cpus: &[u32]| {
        let text = text(&format!("placement = \"{word}\""), SERVER);
        let file = crate::read(&text, "my.toml").unwrap();
        let file = file.with_cpus(cpus.to_vec());
        let plan = crate::expand(&file, &CATALOG, &find, HOST).unwrap();
        plan.systems[0].placement()
    };
    assert_eq!(placed("together", &[4, 6]), "together on CPU 6");
    assert_eq!(placed("apart", &[2, 3, 4, 7]), "apart: server 2-4, client 7");
}

#[test]
fn one_cpu_cannot_keep_server_and_client_apart() {
    let file = crate::read(&text("placement = \"apart\"", SERVER), "my.toml").unwrap();
    let file = file.with_cpus(vec![0]);
    let error = crate::expand(&file, &CATALOG, &find, HOST).unwrap_err();
    assert_snapshot!(error, @r#"my.toml:4: `apart` on one CPU: the server and the client need one each; write "together" or "free""#);
}

#[test]
fn other_words_are_refused() {
    assert_snapshot!(error("placement = \"togther\"", SERVER), @"my.toml:4: no placement `togther`; nearest `together`; available: free, together, apart");
    assert_snapshot!(error("placement = 1", SERVER), @r#"my.toml:4: `placement` must be "free", "together", "apart", or a table such as { server = "0-3", client = "4" }, not 1"#);
}

#[test]
fn a_list_of_cpus_that_are_not_there_is_refused_at_its_line() {
    let refused = |top: &str, system: &str| {
        let file = crate::read(&text(top, system), "my.toml").unwrap();
        let problem = |list: &str| list.contains("99").then(|| format!("no CPU {list}"));
        file.check_cpus(problem).err().map(|error| error.to_string())
    };
    assert_eq!(refused("", SERVER), None);
    assert_eq!(refused("placement = \"apart\"", SERVER), None);
    assert_eq!(refused("placement = { client = \"1\" }", SERVER), None);
    let client = refused("placement = { client = \"99\" }", EMBEDDED);
    assert_eq!(client.unwrap(), "my.toml:4: no CPU 99");
    let server = refused("", &format!("{SERVER}\ncpus = {{ server = \"99\" }}"));
    assert_eq!(server.unwrap(), "my.toml:7: no CPU 99");
    // Load hosts have other CPUs.
    let of_load_hosts = format!("{THERE}\ncpus = {{ client = \"99\" }}");
    assert_eq!(refused("load_hosts = [\"ssh:client1\"]", &of_load_hosts), None);
}
