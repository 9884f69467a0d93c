//! What a real machine adds to the description of a tunable, and what follows from it.

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::{NotASetting, Reached, Restore, Tunable, TunableInfo};

pub(crate) use oversleep_system::undo;

/// The outcome of a change, and the guard that restores it.
pub(crate) type Applied = (Outcome, Option<Box<dyn Restore>>);

/// A tunable of a system: its description, and the change. Settings are parsed in one place, so that what passes the check
/// is what can be applied.
pub(crate) trait Entry: Send + Sync + 'static {
    /// A setting in the form that the system takes.
    type Request;

    /// Its description.
    const INFO: &'static TunableInfo;

    /// Parses a setting; `None` if it is of another kind, out of range or has an unknown name.
    fn parse(setting: &Setting) -> Option<Self::Request>;

    /// What this machine lacks for it, as far as that is known before a change.
    fn check(request: &Self::Request) -> Result<(), Unavailable> {
        let _ = request;
        Ok(())
    }

    /// Its value for the calling thread now.
    fn read() -> Result<Setting, Unavailable>;

    /// Changes it to `request`, which `setting` was parsed into; an error leaves it as it was.
    fn change(request: Self::Request, setting: &Setting) -> Result<Applied, Unavailable>;

    /// Whom a change reaches, where more than the scope decides.
    fn reached() -> Option<Reached> {
        None
    }

    /// As [`Tunable::settings_to_compare`].
    fn compared() -> Vec<Setting> {
        Self::INFO.spans_to_compare()
    }
}

/// An entry in the interface's form.
pub(crate) struct Of<E>(pub(crate) E);

/// The registry entry of a unit type.
macro_rules! of {
    ($entry:path) => {
        (<$entry as $crate::native::tunables::Entry>::INFO.name, |_| Box::new($crate::native::tunables::Of($entry)))
    };
}

pub(crate) use of;

/// What [`of`] makes.
pub(crate) type Made = oversleep_system::pairing::Made<TunableInfo, dyn Tunable>;

impl<E: Entry> Tunable for Of<E> {
    fn info(&self) -> &TunableInfo {
        E::INFO
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        E::read()
    }

    fn validate(&self, setting: &Setting) -> Result<(), NotASetting> {
        let request = E::parse(setting).ok_or_else(|| E::INFO.refuse(setting))?;
        E::check(&request).map_err(|why| NotASetting::unavailable(E::INFO.name, setting, why))
    }

    fn apply(&self, setting: &Setting) -> Applied {
        let changed = match E::parse(setting) {
            Some(request) => E::change(request, setting),
            None => Err(E::INFO.refuse(setting).into()),
        };
        changed.unwrap_or_else(|why| (Outcome::Denied { why }, None))
    }

    fn reached(&self) -> Reached {
        E::reached().unwrap_or_else(|| Reached::by_scope(E::INFO.scope, E::INFO.inherited_by))
    }

    fn settings_to_compare(&self) -> Vec<Setting> {
        E::compared()
    }
}

/// The outcome if the setting was already in force and nothing changed.
pub(crate) fn already(is: Setting) -> Applied {
    (Outcome::AlreadySo { is }, None)
}

/// The outcome of a change that stays in force until the guard is dropped.
pub(crate) fn changed(was: Setting, now: Setting, guard: impl Restore + 'static) -> Applied {
    (Outcome::Applied { was: Some(was), now }, Some(Box::new(guard)))
}

/// As [`changed`]. The guard is kept also where the setting held before: whoever else requested it may release it.
pub(crate) fn held(was: Setting, now: Setting, guard: impl Restore + 'static) -> Applied {
    if was == now { (Outcome::AlreadySo { is: now }, Some(Box::new(guard))) } else { changed(was, now, guard) }
}

/// [`Entry::parse`] of a switch.
pub(crate) fn flag(setting: &Setting) -> Option<bool> {
    match setting {
        &Setting::Flag(on) => Some(on),
        _ => None,
    }
}

/// [`Entry::parse`] of CPUs: at least one, ascending, without duplicates.
pub(crate) fn cpus(setting: &Setting) -> Option<Vec<u32>> {
    let Setting::Cpus(cpus) = setting else { return None };
    let mut wanted = cpus.clone();
    wanted.sort_unstable();
    wanted.dedup();
    (!wanted.is_empty()).then_some(wanted)
}

/// A setting with its word and its number.
pub(crate) fn word(word: &str, number: i32) -> Setting {
    Setting::Policy { policy: word.to_owned(), priority: number }
}

#[cfg(test)]
mod tests {
    use oversleep_system::tunables;

    use super::*;

    #[test]
    fn every_tunable_takes_what_is_compared_and_refuses_another_kind() {
        use oversleep_record::Nanos;
        let settings = [Setting::Nanos(Nanos(1)), Setting::Flag(true), Setting::Cpus(vec![0]), word("no-such-word", 0)];
        for tunable in crate::here().tunables() {
            let name = tunable.info().name;
            for setting in tunable.settings_to_compare() {
                assert_eq!(tunable.validate(&setting), Ok(()), "{name}={setting}");
            }
            let takes = match name {
                "slack" | "dma-latency" | "resolution" | "time-begin-period" => 0,
                "lock-memory" | "power-throttling" | "mmcss" => 1,
                "pin" => 2,
                _ => usize::MAX,
            };
            for (_, setting) in settings.iter().enumerate().filter(|(kind, _)| *kind != takes) {
                assert!(tunable.validate(setting).is_err(), "{name} took {setting}");
                let (outcome, guard) = tunable.apply(setting);
                assert!(!outcome.holds() && guard.is_none(), "{name} took {setting}");
            }
        }
    }

    /// A switch that can be turned on where `HERE` is set, but never off.
    struct Switch<const HERE: bool>;

    struct Guard;

    impl Restore for Guard {}

    impl<const HERE: bool> Entry for Switch<HERE> {
        type Request = bool;

        const INFO: &'static TunableInfo = &TunableInfo { name: "switch", expected: "on or off", ..tunables::COMMON };

        fn parse(setting: &Setting) -> Option<bool> {
            flag(setting)
        }

        fn check(_: &bool) -> Result<(), Unavailable> {
            if HERE { Ok(()) } else { Err(Unavailable::missing("a switch")) }
        }

        fn read() -> Result<Setting, Unavailable> {
            Ok(Setting::Flag(false))
        }

        fn change(request: bool, setting: &Setting) -> Result<Applied, Unavailable> {
            if request { Ok(changed(Self::read()?, setting.clone(), Guard)) } else { Err(Unavailable::NotMeasured) }
        }
    }

    #[test]
    fn what_does_not_parse_is_refused_in_the_same_words_before_and_after() {
        let (here, wrong) = (Of(Switch::<true>), word("on", 1));
        let error = NotASetting::expecting("switch", &wrong, "on or off");
        assert_eq!(error.to_string(), "switch=on:1: give on or off");
        assert_eq!(here.validate(&wrong), Err(error.clone()));
        let (outcome, guard) = here.apply(&wrong);
        assert_eq!(outcome, Outcome::Denied { why: error.into() });
        assert!(guard.is_none());
    }

    #[test]
    fn what_parses_is_changed_or_says_why_not() {
        let (on, off) = (Setting::Flag(true), Setting::Flag(false));
        assert_eq!([Of(Switch::<true>).validate(&on), Of(Switch::<true>).validate(&off)], [Ok(()), Ok(())]);
        assert!(Of(Switch::<false>).validate(&on).is_err_and(|why| why.to_string().contains("a switch")));
        let (outcome, guard) = Of(Switch::<true>).apply(&on);
        assert_eq!(outcome, Outcome::Applied { was: Some(off.clone()), now: on });
        assert!(guard.is_some());
        let (outcome, guard) = Of(Switch::<true>).apply(&off);
        assert_eq!(outcome, Outcome::Denied { why: Unavailable::NotMeasured });
        assert!(guard.is_none());
    }

    #[test]
    fn a_request_is_held_also_where_it_was_so() {
        let (on, off) = (Setting::Flag(true), Setting::Flag(false));
        let (outcome, guard) = held(on.clone(), on.clone(), Guard);
        assert!(guard.is_some());
        assert_eq!(outcome, Outcome::AlreadySo { is: on.clone() });
        assert_eq!(held(off.clone(), on.clone(), Guard).0, Outcome::Applied { was: Some(off), now: on });
    }

    #[test]
    fn cpus_are_taken_in_order_and_each_once() {
        assert_eq!(cpus(&Setting::Cpus(vec![2, 0, 2])), Some(vec![0, 2]));
        assert_eq!([cpus(&Setting::Cpus(vec![])), cpus(&Setting::Flag(true))], [None, None]);
    }
}
