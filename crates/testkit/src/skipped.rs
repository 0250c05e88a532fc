/// Says that a test did nothing, for want of what it needs: a server, published data. `./test.sh` sets
/// `BACKSLIDE_NO_SKIPS`: there it is a failure.
#[track_caller]
pub fn skipped(why: &str) {
    not_permitted(why);
    let may_skip = std::env::var_os("BACKSLIDE_NO_SKIPS").is_none();
    assert!(may_skip, "skipped: {why}; BACKSLIDE_NO_SKIPS is set, so that every test must run");
}

/// The same for want of a permission, which `./test.sh` cannot get.
#[expect(clippy::print_stderr, reason = "tests print")]
pub fn not_permitted(why: &str) {
    eprintln!("skipped: {why}");
}
