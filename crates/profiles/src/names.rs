//! Names that hold across versions and compilers.

use cpp_demangle::{DemangleOptions, Symbol};

/// Signs that follow `operator` and are no brackets, the longest first.
const OPERATORS: [&str; 11] = ["<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"];

/// The name of a function without parameters, template arguments, ABI tags, the number of a lambda, and what
/// compilers append to parts and copies of a function (`.isra.0`, `.cold`).
///
/// ```
/// assert_eq!(profiles::fold("_ZN3std6vectorIiSaIiEE9push_backERKi.isra.0"), "std::vector::push_back");
/// assert_eq!(profiles::fold("_ZN4core3ptr4read17h8a2f3c4d5e6f7a8bE.llvm.12"), "core::ptr::read");
/// ```
pub fn fold(symbol: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(symbol) {
        return of_rust(&format!("{rust:#}"));
    }
    let clone = symbol.char_indices().skip(1).find(|(_, letter)| *letter == '.');
    let base = clone.map_or(symbol, |(at, _)| &symbol[..at]);
    let options = DemangleOptions::new().no_params().no_return_type();
    let demangled = base
        .starts_with("_Z")
        .then(|| Symbol::new(base).ok()?.demangle_with_options(&options).ok())
        .flatten();
    without_details(demangled.as_deref().unwrap_or(base))
}

/// `<A as Trait>::function` says whose function it is; there is no other name.
fn of_rust(name: &str) -> String {
    // Compilers append to it, too: `.llvm.7`.
    let name = name.split_once(".llvm.").map_or(name, |(name, _)| name);
    if name.starts_with('<') {
        name.replace(';', ",")
    } else {
        without_details(name).replace("::::", "::")
    }
}

fn without_details(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        let operator = OPERATORS.iter().find(|sign| rest.starts_with(**sign));
        if let (Some(sign), true) = (operator, kept.ends_with("operator")) {
            kept.push_str(sign);
            rest = &rest[sign.len()..];
            continue;
        }
        let skipped = match letter {
            '<' => Some(bracketed(rest, '<', '>')),
            '[' if rest.starts_with("[abi:") => Some(bracketed(rest, '[', ']')),
            '{' if rest.starts_with("{lambda") => {
                kept.push_str("{lambda}");
                Some(bracketed(rest, '{', '}'))
            }
            _ => None,
        };
        // A folded stack is separated by these.
        kept.extend(skipped.is_none().then_some(if letter == ';' { ',' } else { letter }));
        rest = &rest[skipped.unwrap_or(letter.len_utf8())..];
    }
    kept
}

/// The length of what is in brackets at the start of a text, these included.
fn bracketed(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_u32;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close && before != '-' {
            depth -= 1;
            if depth == 0 {
                return at + letter.len_utf8();
            }
        }
        before = letter;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_parts_of_a_function_have_its_name() {
        assert_eq!(fold("ExecScan.isra.0"), "ExecScan");
        assert_eq!(fold("hash_search.part.3.cold"), "hash_search");
        assert_eq!(fold(".hidden"), ".hidden");
        assert_eq!(fold("_Z8row_seekPK6bufferi.constprop.1"), "row_seek");
    }

    #[test]
    fn arguments_and_tags_are_dropped() {
        let kept = |name| without_details(name);
        assert_eq!(kept("a::b<c<d>, e>::f<g>"), "a::b::f");
        assert_eq!(kept("std::to_string[abi:cxx11]"), "std::to_string");
        assert_eq!(kept("f::{lambda(int, x<y>)#3}::operator()"), "f::{lambda}::operator()");
        assert_eq!(kept("(anonymous namespace)::g"), "(anonymous namespace)::g");
        assert_eq!(kept("array[3]; x"), "array[3], x");
    }

    #[test]
    fn functions_of_rust_have_the_names_of_their_source() {
        let folded = |symbol| fold(symbol);
        assert_eq!(
            folded(
                "_ZN4core3ops8function6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$17h0123456789abcdefE"
            ),
            "core::ops::function::FnOnce::call_once{{vtable.shim}}"
        );
        let implemented =
            "_ZN54_$LT$load..Client$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE";
        assert_eq!(folded(implemented), "<load::Client as core::ops::drop::Drop>::drop");
        assert_eq!(
            folded("_RNvNtNtCsjrHSEGnQ3l9_3std6thread9functions5sleep"),
            "std::thread::functions::sleep"
        );
        assert_eq!(of_rust("alloc::vec::Vec::<u8>::push"), "alloc::vec::Vec::push");
    }

    #[test]
    fn operators_are_no_brackets() {
        for name in ["operator<", "a::operator<<", "operator->", "operator<=>", "operator>>"] {
            assert_eq!(without_details(name), name);
        }
        assert_eq!(without_details("operator<< <char>"), "operator<< ");
        assert_eq!(without_details("a<decltype(b->c)>::d"), "a::d");
    }

    #[test]
    fn brackets_without_end_take_the_rest() {
        assert_eq!(without_details("a<b"), "a");
        assert_eq!(fold("_Znonsense"), "_Znonsense");
        assert_eq!(fold(""), "");
    }
}
