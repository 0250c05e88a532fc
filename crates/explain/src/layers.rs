//! What a stack works at: the layer of its innermost function that has one.

use std::collections::HashMap;

use model::{Dbms, Profile, common_layers};
use plan::{Pattern, any_fits};

/// Of stacks without a function that has a layer.
pub(crate) const UNCLASSIFIED: &str = "unclassified";
const KERNEL: &str = "kernel: other";

pub(crate) struct Layers {
    rules: Vec<(&'static str, Vec<Pattern>)>,
    /// Functions that were looked up.
    known: HashMap<String, Option<&'static str>>,
}

impl Layers {
    pub(crate) fn of(dbms: Dbms) -> Self {
        let rules = dbms.product().layers.iter().chain(common_layers());
        let patterns = |functions: &[String]| {
            functions.iter().map(|function| Pattern::from(function.as_str())).collect()
        };
        let rules = rules.map(|rule| (rule.name.as_str(), patterns(&rule.functions)));
        Self { rules: rules.collect(), known: HashMap::new() }
    }

    /// The layer of a stack, whose functions are separated by `;`.
    pub(crate) fn layer(&mut self, stack: &str) -> &'static str {
        let mut frames = stack.rsplit(';').peekable();
        let is_in_kernel = frames.peek().is_some_and(|frame| Profile::is_of_kernel(frame));
        if is_in_kernel {
            let mut kernel = frames.take_while(|frame| Profile::is_of_kernel(frame));
            return kernel.find_map(|frame| self.of_function(frame)).unwrap_or(KERNEL);
        }
        frames.find_map(|frame| self.of_function(frame)).unwrap_or(UNCLASSIFIED)
    }

    fn of_function(&mut self, function: &str) -> Option<&'static str> {
        if let Some(known) = self.known.get(function) {
            return *known;
        }
        let rule = self.rules.iter().find(|(_, patterns)| any_fits(patterns, function));
        let layer = rule.map(|(name, _)| *name);
        self.known.insert(function.to_owned(), layer);
        layer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(dbms: &str, stack: &str) -> &'static str {
        Layers::of(Dbms::from_name(dbms).unwrap()).layer(stack)
    }

    #[test]
    fn the_innermost_function_that_has_a_layer_decides() {
        let stack = "main;PostgresMain;exec_simple_query;raw_parser;[libc.so.6]";
        assert_eq!(layer("postgres", stack), "parser");
        assert_eq!(layer("postgres", "main;PostgresMain;raw_parser;palloc;malloc"), "memory");
        assert_eq!(
            layer("mysql", "clone;handle_connection;do_command;row_search_mvcc"),
            "access methods"
        );
        assert_eq!(layer("mariadb", "handle_one_connection;net_read_packet"), "network");
        assert_eq!(
            layer("sqlite", "core::ops::call_once;sqlite3_step;sqlite3VdbeExec"),
            "executor"
        );
        assert_eq!(layer("mysql", "[cut];[mysqld]"), UNCLASSIFIED);
        assert_eq!(layer("mysql", ""), UNCLASSIFIED);
    }

    #[test]
    fn the_kernel_has_layers_of_its_own_whoever_called_it() {
        let sent = "main;pq_flush;do_syscall_64_[k];unix_stream_sendmsg_[k];memset_[k]";
        assert_eq!(layer("postgres", sent), "kernel: network");
        assert_eq!(layer("postgres", "main;raw_parser;entry_[k];unheard_of_[k]"), KERNEL);
        assert_eq!(layer("postgres", "main;raw_parser;[kernel]"), KERNEL);
    }

    #[test]
    fn each_product_has_layers() {
        for dbms in ["mysql", "mariadb", "postgres", "sqlite"] {
            let layers = Layers::of(Dbms::from_name(dbms).unwrap());
            let own = layers.rules.len() - common_layers().len();
            assert!(own >= 8 && common_layers().len() >= 6, "{dbms}: {own}");
        }
    }
}
