//! The names in the help's examples, as a user of this system would type them.

/// Names and options for the examples.
#[derive(Clone, Copy, Debug)]
pub struct Examples {
    /// The system's plain sleep, and another wait.
    pub waits: [&'static str; 2],
    /// The reference clock, and another one.
    pub clocks: [&'static str; 2],
    /// Two ways of waking a thread.
    pub handoffs: [&'static str; 2],
    /// The tunable that makes waits end closer to their deadline, and a setting of it.
    pub finer: (&'static str, &'static str),
    /// A policy under which a thread runs ahead of ordinary ones.
    pub policy: &'static str,
    /// A program that every machine of this system has and that ends by itself.
    pub program: &'static str,
}

const LINUX: Examples = Examples {
    waits: ["nanosleep", "epoll-wait"],
    clocks: ["monotonic", "tsc"],
    handoffs: ["futex", "pipe"],
    finer: ("slack", "1ns"),
    policy: "fifo:80",
    program: "echo done",
};

const WINDOWS: Examples = Examples {
    waits: ["sleep", "waitable-timer"],
    clocks: ["qpc", "tsc"],
    handoffs: ["event", "condvar"],
    finer: ("resolution", "1ms"),
    policy: "time-critical",
    program: "cmd /c ver",
};

const MACOS: Examples = Examples {
    waits: ["nanosleep", "kevent"],
    clocks: ["uptime-raw", "mach-absolute"],
    handoffs: ["condvar", "pipe"],
    finer: ("policy", "time-constraint"),
    policy: "fifo:47",
    program: "echo done",
};

/// The examples of the system this was built for.
pub const HERE: Examples = if cfg!(target_os = "windows") {
    WINDOWS
} else if cfg!(target_os = "macos") {
    MACOS
} else {
    LINUX
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::here;

    #[test]
    fn every_name_in_an_example_exists() {
        let native = here();
        for name in HERE.waits {
            assert!(native.wait(name).is_some(), "{name}");
        }
        for name in HERE.clocks {
            assert!(native.clock(name).is_some(), "{name}");
        }
        for name in HERE.handoffs {
            assert!(native.handoff(name).is_some(), "{name}");
        }
        assert!(native.tunable(HERE.finer.0).is_some() && native.tunable("policy").is_some());
        assert_eq!(native.reference_clock(), HERE.clocks[0]);
    }
}
