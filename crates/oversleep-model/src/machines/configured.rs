//! Kernels that differ from that of a modelled machine by their configuration alone. They are known wherever a machine is
//! named; lists of machines leave them out, because they say nothing that the other one doesn't.

/// One of them.
pub struct Configured {
    /// What it is called.
    pub name: &'static str,
    /// The modelled machine.
    pub base: &'static str,
    /// What is set of it.
    pub set: &'static [&'static str],
}

/// Kernels for slow timers: 100 ticks a second, which timers count in where they have none of their own
/// (<https://docs.kernel.org/timers/highres.html>).
pub const CONFIGURED: [Configured; 2] = [
    Configured { name: "linux-hz100", base: "linux-hz250", set: &["hz=100"] },
    Configured { name: "linux-no-highres", base: "linux-hz250", set: &["high-resolution=false"] },
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
