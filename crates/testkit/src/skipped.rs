/// Says that a test did nothing, for want of what it needs: a server, published data. `./test.sh` sets
/// `BACKSLIDE_NO_SKIPS`: there it is a failure.
#[expect(clippy::print_stderr, reason = "tests print")]
#[track_caller]
pub fn skipped(why: &str) {
    eprintln!("skipped: {why}");
    let may_skip = std::env::var_os("BACKSLIDE_NO_SKIPS").is_none();
    assert!(may_skip, "skipped: {why}; BACKSLIDE_NO_SKIPS is set, so that every test must run");
}
