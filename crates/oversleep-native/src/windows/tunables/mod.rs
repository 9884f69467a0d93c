//! What a measurement may change on Windows, each an entry with its way back. What an entry states
//! is [`Entry`](crate::native::tunables::Entry).
//!
//! A guard restores on the thread that made it: it is not `Send` and works in `Drop`, so a panic that unwinds restores
//! too. Guards of one thread are dropped in reverse order.
//!
//! Memory can't be locked as a whole: Windows locks single ranges, within the working set.

mod mmcss;
mod pin;
mod policy;
mod power_throttling;
mod resolution;
mod time_begin_period;

use crate::native::tunables::Of;
use oversleep_system::Tunable;

#[cfg(test)]
pub(super) use resolution::{outstanding, take_back};

/// All tunables.
pub(super) fn registry() -> Vec<Box<dyn Tunable>> {
    vec![
        Box::new(Of(resolution::Resolution)),
        Box::new(Of(time_begin_period::TimeBeginPeriod)),
        Box::new(Of(power_throttling::PowerThrottling)),
        Box::new(Of(policy::PolicyTunable)),
        Box::new(Of(mmcss::Mmcss)),
        Box::new(Of(pin::Pin)),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oversleep_record::Nanos;
    use oversleep_record::conditions::Setting;

    use super::*;

    #[test]
    fn every_tunable_is_described_under_its_own_name() {
        let registry = registry();
        let names: BTreeSet<&str> = registry.iter().map(|tunable| tunable.info().name).collect();
        let listed = ["mmcss", "pin", "policy", "power-throttling", "resolution", "time-begin-period"];
        assert_eq!(names.into_iter().collect::<Vec<_>>(), listed);
        for tunable in &registry {
            let info = tunable.info();
            assert!(info.call.len() > 4 && info.doc.ends_with('.'), "{}", info.name);
            assert!(info.since.starts_with("Windows ") && info.page.starts_with("https://"), "{}", info.name);
            assert_eq!(info.sets_resolution, info.name == "resolution");
            for setting in tunable.settings_to_compare() {
                assert_eq!(tunable.validate(&setting), Ok(()), "{}={setting}", info.name);
            }
        }
    }

    #[test]
    fn every_tunable_refuses_a_setting_of_another_kind() {
        let settings = [
            Setting::Nanos(Nanos::from_millis(1)),
            Setting::Flag(true),
            Setting::Cpus(vec![0]),
            Setting::Policy { policy: "normal".to_owned(), priority: 0 },
        ];
        let takes = |name: &str| match name {
            "resolution" | "time-begin-period" => 0,
            "power-throttling" | "mmcss" => 1,
            "pin" => 2,
            _ => 3,
        };
        for tunable in registry() {
            for (kind, setting) in settings.iter().enumerate().filter(|(kind, _)| *kind != takes(tunable.info().name)) {
                let (outcome, guard) = tunable.apply(setting);
                assert!(!outcome.holds() && guard.is_none(), "{} took setting {kind}", tunable.info().name);
                assert!(tunable.validate(setting).is_err(), "{} finds setting {kind} right", tunable.info().name);
            }
        }
    }
}
