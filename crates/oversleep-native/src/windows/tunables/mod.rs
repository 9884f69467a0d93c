//! What a measurement may change on Windows, and how it is restored: the changes
//! ([`Entry`](crate::native::tunables::Entry)) of what [`oversleep_system::tunables`] describes.
//!
//! A guard restores on the thread that made it: it is not `Send` and works in `Drop`, also while a panic unwinds. Guards
//! of one thread are dropped in reverse order.

mod mmcss;
mod pin;
mod policy;
mod power_throttling;
mod resolution;
mod time_begin_period;

use crate::native::tunables::{Made, of};
use oversleep_system::{Tunable, registry, tunables};

#[cfg(test)]
pub(super) use resolution::{outstanding, take_back};

const CHANGES: &[Made] = &[
    of!(resolution::Resolution),
    of!(time_begin_period::TimeBeginPeriod),
    of!(power_throttling::PowerThrottling),
    of!(policy::PolicyTunable),
    of!(mmcss::Mmcss),
    of!(pin::Pin),
];

/// All tunables.
pub(super) fn registry() -> Vec<Box<dyn Tunable>> {
    registry!(tunables::WINDOWS, &[CHANGES])
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;
    use oversleep_record::conditions::Setting;

    use super::*;

    #[test]
    fn what_is_compared_is_accepted() {
        for tunable in registry() {
            for setting in tunable.settings_to_compare() {
                assert_eq!(tunable.validate(&setting), Ok(()), "{}={setting}", tunable.info().name);
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
