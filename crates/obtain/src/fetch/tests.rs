//! Fetching as a whole: by stand-ins for clients, and over the loopback.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use model::Bytes;

use super::*;

/// A SHA-256 that nothing here has.
const OTHER: &str = "118ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1";

/// A machine with stand-ins for clients.
struct Machine {
    root: tempfile::TempDir,
    clients: Clients,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let mut clients = Clients::of_path(bin.into());
        clients.apt = root.path().join("apt");
        Self { root, clients }
    }

    /// Installs a client that is a script.
    fn client(self, name: &str, script: &str) -> Self {
        let path = self.root.path().join("bin").join(name);
        crate::tests::stand_in::script(&path, script);
        self
    }

    /// Installs the real client, so that no proxy of the user comes between it and the loopback.
    fn real_client(self, name: &str) -> Option<Self> {
        let Some(real) = Clients::of_user().find(&[name]) else {
            println!("skipped: no {name}");
            return None;
        };
        let script = format!(
            "exec env -u http_proxy -u HTTP_PROXY -u all_proxy -u ALL_PROXY '{}' \"$@\"",
            real.display()
        );
        Some(self.client(name, &script))
    }

    fn parcel(&self) -> PathBuf {
        self.root.path().join("downloads/of the parcel")
    }

    fn fetch(&self, origin: &Origin, sha256: Option<&str>) -> Result<Fetched> {
        let mut listen = |_| {};
        let mut errand = Errand::new(origin, Bytes(0), &self.parcel(), &self.clients, &mut listen)?;
        fetch(origin, sha256, Closure::Whole, &mut errand)
    }

    fn message(&self, origin: &Origin) -> String {
        let text = self.fetch(origin, None).unwrap_err().to_string();
        text.replace(&self.root.path().display().to_string(), "ROOT")
    }
}

fn text(archive: &Path) -> String {
    fs::read_to_string(archive).unwrap()
}

fn maven() -> Origin {
    Origin::Maven("com.example:server:1.0:zip:linux".into())
}

/// A Maven that writes the archive where a repository has it.
const MAVEN: &str = r#"
for argument; do case $argument in -Dmaven.repo.local=*) repository=${argument#*=};; esac; done
mkdir -p "$repository/com/example/server/1.0" "$repository/org/plugin"
echo "$@" > "$repository/../asked"
printf whole > "$repository/com/example/server/1.0/server-1.0-linux.zip"
echo notes > "$repository/com/example/server/1.0/_remote.repositories"
"#;

#[test]
fn an_artifact_moves_out_of_the_repository_that_parcels_share() {
    let machine = Machine::new().client("mvn", MAVEN);
    let fetched = machine.fetch(&maven(), Some(&sha256("whole"))).unwrap();
    assert_eq!(fetched.archives, [machine.parcel().join("server-1.0-linux.zip")]);
    assert_eq!(text(&fetched.archives[0]), "whole");
    let shared = machine.root.path().join("downloads/maven");
    insta::assert_snapshot!(
        text(&shared.join("asked")).replace(&shared.display().to_string(), "SHARED"),
        @"-q -B -Dmaven.repo.local=SHARED/repository dependency:get -Dtransitive=false -Dartifact=com.example:server:1.0:zip:linux"
    );
    assert!(shared.join("repository/org/plugin").is_dir());
    assert!(!shared.join("repository/com/example/server/1.0").exists());
    // What is there is not fetched again, even by a machine without Maven.
    fs::remove_file(machine.root.path().join("bin/mvn")).unwrap();
    assert_eq!(machine.fetch(&maven(), None).unwrap(), fetched);
}

#[test]
fn an_archive_with_another_digest_is_removed() {
    let machine = Machine::new().client("mvn", MAVEN);
    let error = machine.fetch(&maven(), Some(OTHER)).unwrap_err().to_string();
    assert!(error.contains(OTHER) && error.contains(&sha256("whole")), "{error}");
    assert!(!machine.parcel().exists());
    let own = machine.root.path().join("own.zip");
    fs::write(&own, "whole").unwrap();
    let origin = Origin::File(own.display().to_string());
    let error = machine.fetch(&origin, Some(OTHER)).unwrap_err().to_string();
    assert!(error.contains(OTHER) && error.contains(&sha256("whole")), "{error}");
    assert!(own.exists(), "a file of the user's own was removed");
    let fetched = machine.fetch(&origin, Some(&sha256("whole"))).unwrap();
    assert_eq!(fetched.archives, [own]);
}

#[test]
fn a_download_without_end_is_ended_and_leaves_nothing() {
    // Zeros as fast as the disk takes them, to the file that curl is told: the argument after `-o`.
    let script = "while [ \"$1\" != -o ]; do shift; done; \
                  exec head -c 4000000000 /dev/zero > \"$2\"";
    let machine = Machine::new().client("curl", script);
    let origin = Origin::Url("http://endless.example/a.tar".into());
    let mut listen = |_| {};
    let recorded = Bytes(1 << 20);
    let parcel = machine.parcel();
    let mut errand =
        Errand::new(&origin, recorded, &parcel, &machine.clients, &mut listen).unwrap();
    let error = fetch(&origin, None, Closure::Whole, &mut errand).unwrap_err();
    insta::assert_snapshot!(error, @"cannot fetch http://endless.example/a.tar: curl was stopped after 258 MiB, more than expected; the partial file was removed. If the archive is that large, fetch it elsewhere and run `backslide add NAME --archive FILE`");
    assert!(!parcel.exists(), "a part is left");
}

#[test]
fn a_client_that_is_not_installed_is_named_with_what_has_it() {
    let machine = Machine::new();
    insta::assert_snapshot!(machine.message(&maven()), @"cannot fetch Maven com.example:server:1.0:zip:linux: mvn is missing on this machine: install Maven (Debian's package `maven`), or fetch the archive elsewhere and run `backslide add NAME --archive FILE`");
    for (origin, client) in [
        (Origin::Npm("server@1.0.0".into()), "npm"),
        (Origin::Pypi("tool==1.0".into()), "pip or pip3"),
        (Origin::Url("http://example.org/a.tar".into()), "curl or wget"),
    ] {
        let message = machine.message(&origin);
        assert!(message.contains(&format!("{client} is missing on")), "{message}");
    }
    assert!(!machine.parcel().exists());
}

#[test]
fn what_a_client_says_is_in_the_error() {
    let machine = Machine::new()
        .client("mvn", "echo '[ERROR] Could not find it'; exit 1")
        .client("npm", "echo 'npm error 404 Not Found' >&2; exit 1")
        .client("pip", "exit 7")
        .client("curl", "exit 0");
    insta::assert_snapshot!(machine.message(&maven()), @"cannot fetch Maven com.example:server:1.0:zip:linux: mvn said: Could not find it");
    insta::assert_snapshot!(machine.message(&Origin::Npm("server@1.0.0".into())), @"cannot fetch npm server@1.0.0: npm said: 404 Not Found");
    insta::assert_snapshot!(machine.message(&Origin::Pypi("tool==1.0".into())), @"cannot fetch PyPI tool==1.0: pip said: nothing (exit status: 7)");
    insta::assert_snapshot!(machine.message(&Origin::Url("http://example.org/a.tar".into())), @"cannot fetch http://example.org/a.tar: curl succeeded, but a.tar is missing");
    insta::assert_snapshot!(machine.message(&Origin::Url("file:///etc/passwd".into())), @"cannot fetch file:///etc/passwd: only addresses that begin with http:// or https:// are opened");
    insta::assert_snapshot!(machine.message(&Origin::File("/nonexistent/a.zip".into())), @"/nonexistent/a.zip is not a readable file: give the path of an archive");
}

#[test]
fn a_client_that_hangs_is_ended() {
    let mut machine = Machine::new().client("mvn", "echo connecting; exec sleep 600");
    machine.clients.patience = Duration::from_millis(300);
    insta::assert_snapshot!(machine.message(&maven()), @"cannot fetch Maven com.example:server:1.0:zip:linux: mvn was stopped after 300ms without data; its last words: connecting. Try again: files already fetched are kept");
}

#[test]
fn packages_of_npm_and_pypi_get_their_name_when_they_are_whole() {
    let npm = r#"
[ "$1 $2 $3" = "pack @example/server@1.0.0 --pack-destination" ] || exit 1
printf whole > "$4/example-server-1.0.0.tgz"
"#;
    let pip = r#"
[ "$1" = download ] || exit 1
for argument; do [ "$last" = -d ] && to=$argument; last=$argument; done
[ "$TMPDIR" = "$to" ] || exit 2
printf whole > "$to/some_tool-1.0-py3-none-any.whl"
"#;
    let machine = Machine::new().client("npm", npm).client("pip3", pip);
    for (origin, file) in [
        (Origin::Npm("@example/server@1.0.0".into()), "example-server-1.0.0.tgz"),
        (Origin::Pypi("some-tool==1.0".into()), "some_tool-1.0-py3-none-any.whl"),
    ] {
        let fetched = machine.fetch(&origin, Some(&sha256("whole"))).unwrap();
        assert_eq!(fetched.archives, [machine.parcel().join(file)]);
        assert!(!machine.parcel().join("working").exists());
        // A second time nobody is asked.
        assert_eq!(machine.fetch(&origin, None).unwrap(), fetched);
    }
}

fn sha256(text: &str) -> String {
    tree::text_digest(text)
}

/// A server of one file; `ranges` says whether it can give a part of it. What it was asked for.
fn serve(content: &'static [u8], ranges: bool) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/files/a.tar?x=1", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    // It ends with the test's process.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, content, ranges, &log);
        }
    });
    (address, asked)
}

fn answer(mut stream: TcpStream, content: &[u8], ranges: bool, log: &Mutex<Vec<String>>) {
    let lines: Vec<String> = BufReader::new(&stream)
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .collect();
    let range = lines.iter().find_map(|line| {
        let lower = line.to_ascii_lowercase();
        let start = lower.strip_prefix("range: bytes=")?.strip_suffix('-')?;
        start.parse::<usize>().ok()
    });
    log.lock().unwrap().push(match range {
        Some(start) => format!("from {start}"),
        None => "all".to_owned(),
    });
    let (status, more, body) = match range {
        Some(start) if ranges && start < content.len() => {
            let last = content.len() - 1;
            let range = format!("Content-Range: bytes {start}-{last}/{}\r\n", content.len());
            ("206 Partial Content", range, &content[start..])
        }
        Some(_) if ranges => (
            "416 Range Not Satisfiable",
            format!("Content-Range: bytes */{}\r\n", content.len()),
            &[][..],
        ),
        _ => ("200 OK", String::new(), content),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{more}\r\n",
        body.len()
    );
    // A client that has heard enough hangs up.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

#[test]
fn a_partial_file_is_gone_on_with() {
    for client in ["curl", "wget"] {
        for (there, asked) in [("", "all"), ("wh", "from 2"), ("whole", "from 5")] {
            let Some(machine) = Machine::new().real_client(client) else {
                break;
            };
            let (address, log) = serve(b"whole", true);
            fs::create_dir_all(machine.parcel()).unwrap();
            if !there.is_empty() {
                fs::write(machine.parcel().join("a.tar.part"), there).unwrap();
            }
            let origin = Origin::Url(address);
            let fetched = machine.fetch(&origin, Some(&sha256("whole"))).unwrap();
            assert_eq!(fetched.archives, [machine.parcel().join("a.tar")]);
            assert_eq!(log.lock().unwrap()[0], asked, "{client}");
            // Whole now, so that nobody is asked again.
            log.lock().unwrap().clear();
            machine.fetch(&origin, None).unwrap();
            assert!(log.lock().unwrap().is_empty());
        }
    }
}

#[test]
fn a_server_that_gives_no_parts_is_asked_for_all() {
    for client in ["curl", "wget"] {
        let Some(machine) = Machine::new().real_client(client) else {
            continue;
        };
        let (address, _) = serve(b"whole", false);
        fs::create_dir_all(machine.parcel()).unwrap();
        fs::write(machine.parcel().join("a.tar.part"), "wh").unwrap();
        let fetched = machine.fetch(&Origin::Url(address), None).unwrap();
        assert_eq!(text(&fetched.archives[0]), "whole", "{client}");
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error_of_the_client() {
    for client in ["curl", "wget"] {
        let Some(machine) = Machine::new().real_client(client) else {
            continue;
        };
        // Nobody listens here any more.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/a.tar", listener.local_addr().unwrap());
        drop(listener);
        let message = machine.message(&Origin::Url(address));
        assert!(message.contains(&format!("{client} said: ")), "{message}");
        assert!(
            message.to_lowercase().contains("refused") || message.contains("connect"),
            "{message}"
        );
    }
}

#[test]
fn a_secret_in_an_address_is_given_to_the_client_alone() {
    let address = "https://me:secret@h.example/a.tar?token=secret[1]\"\\#secret";
    for client in ["curl", "wget"] {
        let script = "cat > ../../input; echo \"$@\" > ../../arguments; \
                      echo 'https://u:secret@other.example/x?k=secret: refused' >&2; exit 1";
        let machine = Machine::new().client(client, script);
        let message = machine.message(&Origin::Url(address.into()));
        assert!(message.starts_with("cannot fetch https://h.example/a.tar: "), "{message}");
        assert!(!message.contains("secret"), "{message}");
        let read = |name: &str| fs::read_to_string(machine.root.path().join(name)).unwrap();
        assert!(!read("arguments").contains("secret"));
        let expected = match client {
            "curl" => {
                "url = \"https://me:secret@h.example/a.tar?token=secret[1]\\\"\\\\#secret\"\n"
                    .to_owned()
            }
            _ => format!("{address}\n"),
        };
        assert_eq!(read("input"), expected);
    }
    let message = Machine::new().message(&Origin::Url("ftp://me:secret@h.example/a?secret".into()));
    assert!(!message.contains("secret"), "{message}");
}

/// An apt with a suite of three packages, one of which it has in two versions; `new` is in its lists only
/// after a second update.
const APT: &str = r#"
state=$(dirname "$3")
case " $* " in
*" update ") echo x >> "$state/updates";;
*" install -s "*)
    echo "Inst libc6 (2.1-1 Debian:unstable [amd64])"
    echo "Inst perl-base (5-1 Debian:unstable [amd64])"
    echo "Inst server (1:1.0-1 Debian:unstable [amd64])";;
*" --print-uris "*)
    echo "'http://example.org/libc6.deb' libc6_2.1-1_amd64.deb 5 SHA256:$(printf libc6 | sha256sum | cut -c 1-64)"
    echo "'http://example.org/server.deb' server_1%3a1.0-1_amd64.deb 6 SHA256:$(printf server | sha256sum | cut -c 1-64)";;
*" download "*)
    if [ -e "$state/replaced" ]; then rm "$state/replaced"; echo "E: 404  Not Found" >&2; exit 100; fi
    echo "$*" | sed 's/.* download/download/' >> "$state/downloads"
    case " $* " in *" server=1:1.0-1 "*) printf server > 'server_1%3a1.0-1_amd64.deb';; esac
    case " $* " in *" libc6=2.1-1 "*) printf libc6 > libc6_2.1-1_amd64.deb;; esac;;
esac
"#;

const APT_CACHE: &str = r#"
state=$(dirname "$3")
echo " server | 1:1.0-1 | http://example.org/debian sid/main amd64 Packages"
echo " server | 1:0.9-3 | http://example.org/debian sid/main amd64 Packages"
[ "$(wc -l < "$state/updates")" -lt 2 ] ||
    echo " new | 2.0-1 | http://example.org/debian sid/main amd64 Packages"
"#;

fn debian(packages: &[&str]) -> Origin {
    Origin::Debian {
        suite: "sid".to_owned(),
        packages: packages.iter().map(ToString::to_string).collect(),
    }
}

fn machine_with_apt() -> Machine {
    let machine = Machine::new().client("apt-get", APT).client("apt-cache", APT_CACHE);
    fs::create_dir(&machine.clients.apt).unwrap();
    fs::write(
        machine.clients.apt.join("sources.list"),
        "deb http://example.org/debian bookworm main\n",
    )
    .unwrap();
    machine
}

#[test]
fn packages_come_with_the_libraries_of_their_suite() {
    let machine = machine_with_apt();
    let origin = debian(&["server=1:1.0-1"]);
    let fetched = machine.fetch(&origin, None).unwrap();
    let packages = machine.parcel().join("packages");
    assert_eq!(fetched.archives, [packages.join("server_1%3a1.0-1_amd64.deb")]);
    assert_eq!(fetched.libraries, [packages.join("libc6_2.1-1_amd64.deb")]);
    let state = machine.root.path().join("downloads/apt-sid");
    assert!(text(&state.join("suite.sources")).contains("http://example.org/debian"));
    // What is whole is not fetched again, what is not is.
    fs::write(&fetched.libraries[0], "lib").unwrap();
    assert_eq!(machine.fetch(&origin, None).unwrap(), fetched);
    fs::write(&fetched.archives[0], "savior").unwrap();
    assert_eq!(machine.fetch(&origin, None).unwrap(), fetched);
    assert_eq!(machine.fetch(&origin, None).unwrap(), fetched);
    insta::assert_snapshot!(text(&state.join("downloads")), @r"
    download libc6=2.1-1 server=1:1.0-1
    download libc6=2.1-1
    download server=1:1.0-1
    ");
    assert_eq!(text(&state.join("updates")).lines().count(), 1);
    // A file that the mirror no longer has is looked for in new lists.
    fs::write(&fetched.archives[0], "").unwrap();
    fs::write(state.join("replaced"), "").unwrap();
    assert_eq!(machine.fetch(&origin, None).unwrap(), fetched);
    assert_eq!(text(&state.join("updates")).lines().count(), 2);
}

#[test]
fn lists_are_renewed_before_a_package_is_said_to_be_gone() {
    let machine = machine_with_apt();
    machine.fetch(&debian(&["server"]), None).unwrap();
    let updates = machine.root.path().join("downloads/apt-sid/updates");
    assert_eq!(text(&updates).lines().count(), 1);
    insta::assert_snapshot!(machine.message(&debian(&["server=1:0.8-1"])), @"cannot fetch Debian sid server=1:0.8-1: sid has no package server 1:0.8-1: it has 1:1.0-1, 1:0.9-3 now, and suites replace their packages; add your own build with `backslide add`");
    assert_eq!(text(&updates).lines().count(), 2);
    insta::assert_snapshot!(machine.message(&debian(&["server", "other"])), @"cannot fetch Debian sid server other: sid has no package other in any version");
    insta::assert_snapshot!(machine.message(&debian(&["-o x"])), @"`-o x` are not valid coordinates of Debian: write name or name=version");
}

#[test]
fn a_host_without_apt_or_mirrors_is_told_what_to_do() {
    let machine = Machine::new();
    insta::assert_snapshot!(machine.message(&debian(&["server"])), @"cannot fetch Debian sid server: this machine's apt knows no mirror of Debian: describe one in /etc/apt/sources.list.d (with `Enabled: no` it serves nothing else), or fetch the archive elsewhere and run `backslide add NAME --archive FILE`");
    let machine = machine_with_apt();
    fs::remove_file(machine.root.path().join("bin/apt-get")).unwrap();
    insta::assert_snapshot!(machine.message(&debian(&["server"])), @"cannot fetch Debian sid server: apt-get is missing on this machine: install apt, which only Debian and its derivatives have, or fetch the archive elsewhere and run `backslide add NAME --archive FILE`");
}
