//! A program's missing libraries, from the dynamic loader.

/// How it begins to say so.
const BEGIN: &str = "error while loading shared libraries: ";

/// How it goes on after the library's name.
const END: &str = ": cannot open shared object file";

/// The library that the program lacks; `None` where it has another trouble.
pub(super) fn missing_library(answer: &str) -> Option<&str> {
    let (_, rest) = answer.split_once(BEGIN)?;
    let (library, _) = rest.split_once(END)?;
    let is_name = library.contains(".so")
        && !library.starts_with('.')
        && library.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
    is_name.then_some(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_in_the_words_of_the_loader() {
        let line = "/a b/bin/mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file: No such file or directory\n";
        assert_eq!(missing_library(line), Some("libaio.so.1"));
        let wrapped =
            format!("bin/mysqld does not say which server it is: `--version` answered `{line}`");
        assert_eq!(missing_library(&wrapped), Some("libaio.so.1"));
    }

    #[test]
    fn other_troubles_are_no_missing_library() {
        for line in [
            "",
            "Segmentation fault",
            "mysqld: /lib/libc.so.6: version `GLIBC_2.38' not found (required by mysqld)",
            "mysqld: error while loading shared libraries: libx.so.1: wrong ELF class: ELFCLASS32",
            "mysqld: error while loading shared libraries: ../../libx.so: cannot open shared object file",
            "mysqld: error while loading shared libraries: /etc/x.so: cannot open shared object file",
        ] {
            assert_eq!(missing_library(line), None, "{line}");
        }
    }
}
