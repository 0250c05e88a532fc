//! What a stack works at: the layer of its innermost function that has one.

use std::collections::HashMap;

use model::{Dbms, Profile, Resource, common_layers};
use plan::{Pattern, any_fits};

/// Of stacks without a function that has a layer.
pub(crate) const UNCLASSIFIED: &str = "unclassified";
const KERNEL: &str = "kernel: other";
/// Of threads that could go on.
const PREEMPTED: &str = "waiting for a CPU";

pub(crate) struct Layers {
    rules: Vec<(&'static str, Vec<Pattern>)>,
    /// How many of them are the product's own: the first.
    own: usize,
    /// Functions that were looked up: the places of their rules.
    known: HashMap<String, Option<usize>>,
}

impl Layers {
    pub(crate) fn of(dbms: Dbms) -> Self {
        let own = &dbms.product().layers;
        let rules = own.iter().chain(common_layers());
        let patterns = |functions: &[String]| {
            functions.iter().map(|function| Pattern::from(function.as_str())).collect()
        };
        let rules = rules.map(|rule| (rule.name.as_str(), patterns(&rule.functions)));
        Self { rules: rules.collect(), own: own.len(), known: HashMap::new() }
    }

    /// The layer of a stack, whose functions are separated by `;`, and the function that has what it costs.
    pub(crate) fn layer_and_function<'s>(
        &mut self,
        of: Resource,
        stack: &'s str,
    ) -> (&'static str, &'s str) {
        match of {
            Resource::Cpu | Resource::Instructions => {
                (self.layer(stack), stack.rsplit(';').next().unwrap_or_default())
            }
            Resource::Sleep => self.sleep(stack),
        }
    }

    /// What waits is the product's innermost function with a layer: all sleeps end in the kernel, most in a library.
    fn sleep<'s>(&mut self, stack: &'s str) -> (&'static str, &'s str) {
        if stack == Profile::PREEMPTED {
            return (PREEMPTED, stack);
        }
        let mut user = stack.rsplit(';').filter(|frame| !Profile::is_of_kernel(frame)).peekable();
        let innermost = user.peek().copied().unwrap_or(stack);
        let own = self.own;
        let slept = user.find_map(|frame| Some((self.place(frame).filter(|at| *at < own)?, frame)));
        slept.map_or((UNCLASSIFIED, innermost), |(place, frame)| (self.rules[place].0, frame))
    }

    fn layer(&mut self, stack: &str) -> &'static str {
        let mut frames = stack.rsplit(';').peekable();
        let is_in_kernel = frames.peek().is_some_and(|frame| Profile::is_of_kernel(frame));
        if is_in_kernel {
            let mut kernel = frames.take_while(|frame| Profile::is_of_kernel(frame));
            return kernel.find_map(|frame| self.of_function(frame)).unwrap_or(KERNEL);
        }
        frames.find_map(|frame| self.of_function(frame)).unwrap_or(UNCLASSIFIED)
    }

    fn of_function(&mut self, function: &str) -> Option<&'static str> {
        self.place(function).map(|place| self.rules[place].0)
    }

    /// That of the rule which a function fits.
    fn place(&mut self, function: &str) -> Option<usize> {
        if let Some(known) = self.known.get(function) {
            return *known;
        }
        let place = self.rules.iter().position(|(_, patterns)| any_fits(patterns, function));
        self.known.insert(function.to_owned(), place);
        place
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
        let reads = "main;PostgresMain;pq_getbyte;pq_recvbuf;secure_read;recv;clock_gettime";
        assert_eq!(layer("postgres", reads), "network");
        assert_eq!(layer("postgres", "main;PostgresMain"), "session");
        assert_eq!(layer("postgres", "main;PostgresMain;ExecutorRun;int4recv"), "executor");
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
    fn a_sleep_is_of_the_products_function_that_waits() {
        let mut layers = Layers::of(Dbms::from_name("mysql").unwrap());
        let mut sleep = |stack| layers.layer_and_function(Resource::Sleep, stack);
        let stack = "do_command;ha_commit_trans;log_write_up_to;os_file_flush;fsync;do_syscall_64_[k];schedule_[k]";
        assert_eq!(sleep(stack), ("buffer pool", "os_file_flush"));
        let stack = "do_command;lock_wait_suspend_thread;pthread_cond_wait;futex_wait_[k]";
        assert_eq!(sleep(stack), ("locking", "lock_wait_suspend_thread"));
        assert_eq!(sleep("[preempted]"), ("waiting for a CPU", "[preempted]"));
        assert_eq!(sleep("clone;nobody;schedule_[k]"), (UNCLASSIFIED, "nobody"));
        assert_eq!(sleep("schedule_[k]"), (UNCLASSIFIED, "schedule_[k]"));
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
