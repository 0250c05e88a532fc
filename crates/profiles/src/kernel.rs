//! The names of the kernel's functions.

use std::fs;

/// The functions of `/proc/kallsyms` by address; none where this user may not read the addresses.
pub(crate) struct Kernel(Vec<(u64, String)>);

impl Kernel {
    pub(crate) fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/kallsyms").unwrap_or_default())
    }

    pub(crate) fn parse(text: &str) -> Self {
        let functions = text.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
            let name = words.next()?;
            // Without privileges each address is zero.
            (is_code && address != 0).then(|| (address, name.to_owned()))
        });
        let mut functions: Vec<(u64, String)> = functions.collect();
        functions.sort_by_key(|(address, _)| *address);
        Self(functions)
    }

    pub(crate) fn address(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(_, function)| function == name).map(|(address, _)| *address)
    }

    /// Does an interrupt enter the kernel here?
    pub(crate) fn is_entry(&self, address: u64) -> bool {
        self.name(address).is_some_and(|name| name.starts_with("asm_"))
    }

    /// The function at an address. Unlike programs, the kernel names all of its functions.
    pub(crate) fn name(&self, address: u64) -> Option<&str> {
        let after = self.0.partition_point(|(start, _)| *start <= address);
        let (_, name) = self.0.get(after.checked_sub(1)?)?;
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_function_before_it() {
        let kernel = Kernel::parse(
            "ffffffff81000200 t second\nffffffff81000100 T first\nffffffff81000180 d data\n0 T hidden\n",
        );
        assert_eq!(kernel.name(0xffff_ffff_8100_0100), Some("first"));
        assert_eq!(kernel.name(0xffff_ffff_8100_01ff), Some("first"));
        assert_eq!(kernel.name(0xffff_ffff_8100_0300), Some("second"));
        assert_eq!(kernel.name(0xffff_ffff_8100_00ff), None);
    }
}
