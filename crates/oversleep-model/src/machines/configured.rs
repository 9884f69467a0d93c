//! Machines that differ from a modelled one by what is set alone: the configuration of a kernel, or a release of the same
//! rules. They are known wherever a machine is named; lists of machines leave them out, because they say nothing that the
//! other one doesn't.

/// One of them.
pub struct Configured {
    /// What it is called.
    pub name: &'static str,
    /// The modelled machine.
    pub base: &'static str,
    /// What is set of it.
    pub set: &'static [&'static str],
}

const SERVER_SLICE: &str = "scheduler.slice=187.5ms";

/// Kernels for slow timers: 100 ticks a second, which timers count in where they have none of their own
/// (<https://docs.kernel.org/timers/highres.html>). Releases of Windows whose counter has the frequency of their build; a
/// server's slice is 36 quantum units (<https://github.com/djdallmann/GamingPCSetup>).
pub const CONFIGURED: [Configured; 7] = [
    Configured { name: "linux-hz100", base: "linux-hz250", set: &["hz=100"] },
    Configured { name: "linux-no-highres", base: "linux-hz250", set: &["high-resolution=false"] },
    Configured { name: "windows-11-24h2", base: "windows-11", set: &["facts.os.build=26100"] },
    Configured { name: "windows-10-22h2", base: "windows-10-2004", set: &["facts.os.build=19045"] },
    Configured { name: "windows-10-1607", base: "windows-10-1909", set: &["facts.os.build=14393"] },
    Configured { name: "windows-server-2016", base: "windows-10-1909", set: &["facts.os.build=14393", SERVER_SLICE] },
    Configured { name: "windows-server-2019", base: "windows-10-1909", set: &["facts.os.build=17763", SERVER_SLICE] },
];

/// The one of that name.
pub fn configured(name: &str) -> Option<&'static Configured> {
    CONFIGURED.iter().find(|configured| configured.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines::{describe, is_known, names};

    #[test]
    fn each_is_its_machine_but_for_what_is_set() {
        for configured in &CONFIGURED {
            assert!(is_known(configured.name) && !names().contains(&configured.name));
            let set: Vec<String> = configured.set.iter().map(|&set| set.to_owned()).collect();
            let [own, base] = [(configured.name, &[][..]), (configured.base, &set)]
                .map(|(name, set)| describe(name, set).unwrap_or_else(|error| panic!("{error}")));
            assert_eq!((&*own.name, own.figures), (configured.name, base.figures));
        }
        assert!(!is_known("linux-hz99"));
    }
}
