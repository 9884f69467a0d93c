//! What a tunable of a real machine states, and what follows from it.

use std::marker::PhantomData;

use oversleep_record::Unavailable;
use oversleep_record::conditions::{Outcome, Setting};

use oversleep_system::{Reached, Restore, Tunable, TunableInfo};

/// What a change comes to.
pub(crate) type Applied = (Outcome, Option<Box<dyn Restore>>);

/// Keeps a guard on its thread.
pub(crate) type NotSend = PhantomData<*const ()>;

/// An entry in a system's registry of tunables. Settings are understood in one place, so that what is found right before
/// anything is changed is what can be applied.
pub(crate) trait Entry: Send + Sync {
    /// A setting as the system is told it.
    type Asked;

    /// What is known of it.
    const INFO: &'static TunableInfo;
    /// Which settings are right: what follows "give" in a message.
    const RIGHT: &'static str;

    /// `None` for a setting of another kind, out of range or with an unknown name.
    fn understood(setting: &Setting) -> Option<Self::Asked>;

    /// What this machine lacks for it, as far as that can be told before it is tried.
    fn lacking(asked: &Self::Asked) -> Result<(), Unavailable> {
        let _ = asked;
        Ok(())
    }

    /// Its value for the calling thread now.
    fn read() -> Result<Setting, Unavailable>;

    /// Changes it to `asked`, which is what `setting` means; an error leaves it as it was.
    fn change(asked: Self::Asked, setting: &Setting) -> Result<Applied, Unavailable>;

    /// As [`Tunable::inherited_by`].
    fn heirs() -> Option<&'static str> {
        None
    }

    /// Whom a change reaches, where more than the scope decides.
    fn reaches() -> Option<Reached> {
        None
    }

    /// As [`Tunable::settings_to_compare`].
    fn compared() -> Vec<Setting> {
        Vec::new()
    }
}

/// An entry as the interface has it.
pub(crate) struct Of<E>(pub(crate) E);

impl<E: Entry> Tunable for Of<E> {
    fn info(&self) -> &TunableInfo {
        E::INFO
    }

    fn current(&self) -> Result<Setting, Unavailable> {
        E::read()
    }

    fn validate(&self, setting: &Setting) -> Result<(), String> {
        let asked = E::understood(setting).ok_or_else(|| not_a_setting::<E>(setting))?;
        E::lacking(&asked).map_err(|why| why.to_string())
    }

    fn apply(&self, setting: &Setting) -> Applied {
        let changed = match E::understood(setting) {
            Some(asked) => E::change(asked, setting),
            None => Err(Unavailable::Nonsense { what: not_a_setting::<E>(setting) }),
        };
        changed.unwrap_or_else(|why| (Outcome::Denied { why }, None))
    }

    fn inherited_by(&self) -> Option<&'static str> {
        E::heirs()
    }

    fn reached(&self) -> Reached {
        E::reaches().unwrap_or_else(|| Reached::by_scope(E::INFO.scope, E::heirs()))
    }

    fn settings_to_compare(&self) -> Vec<Setting> {
        E::compared()
    }
}

fn not_a_setting<E: Entry>(setting: &Setting) -> String {
    format!("{}={setting}; give {}", E::INFO.name, E::RIGHT)
}

/// What is asked for held already, by nobody's doing here.
pub(crate) fn already(is: Setting) -> Applied {
    (Outcome::AlreadySo { is }, None)
}

/// It was changed, until the guard is dropped.
pub(crate) fn changed(was: Setting, now: Setting, guard: impl Restore + 'static) -> Applied {
    (Outcome::Applied { was: Some(was), now }, Some(Box::new(guard)))
}

/// As [`changed`], and held where that was so before too: whoever else asked for it may let go.
pub(crate) fn held(was: Setting, now: Setting, guard: impl Restore + 'static) -> Applied {
    if was == now { (Outcome::AlreadySo { is: now }, Some(Box::new(guard))) } else { changed(was, now, guard) }
}

/// [`Entry::understood`] of what is on or off.
pub(crate) fn flag(setting: &Setting) -> Option<bool> {
    match setting {
        &Setting::Flag(on) => Some(on),
        _ => None,
    }
}

/// [`Entry::understood`] of CPUs: at least one, in order and each once.
pub(crate) fn cpus(setting: &Setting) -> Option<Vec<u32>> {
    let Setting::Cpus(cpus) = setting else { return None };
    let mut asked = cpus.clone();
    asked.sort_unstable();
    asked.dedup();
    (!asked.is_empty()).then_some(asked)
}

/// A word as a setting, with its number.
pub(crate) fn word(word: &str, number: i32) -> Setting {
    Setting::Policy { policy: word.to_owned(), priority: number }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oversleep_system::Scope;

    /// Takes on where the machine has it, and fails with off.
    struct Switch<const HERE: bool>;

    struct Guard;

    impl Restore for Guard {}

    impl<const HERE: bool> Entry for Switch<HERE> {
        type Asked = bool;

        const INFO: &'static TunableInfo = &TunableInfo {
            name: "switch",
            call: "none",
            doc: "None.",
            scope: Scope::Process,
            sets_resolution: false,
            since: "",
            page: "",
        };
        const RIGHT: &'static str = "on or off";

        fn understood(setting: &Setting) -> Option<bool> {
            flag(setting)
        }

        fn lacking(_: &bool) -> Result<(), Unavailable> {
            if HERE { Ok(()) } else { Err(Unavailable::missing("a switch")) }
        }

        fn read() -> Result<Setting, Unavailable> {
            Ok(Setting::Flag(false))
        }

        fn change(asked: bool, setting: &Setting) -> Result<Applied, Unavailable> {
            if asked { Ok(changed(Self::read()?, setting.clone(), Guard)) } else { Err(Unavailable::NotAsked) }
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_in_the_same_words_before_and_after() {
        let (here, wrong) = (Of(Switch::<true>), word("on", 1));
        let words = "switch=on:1; give on or off".to_owned();
        assert_eq!(here.validate(&wrong), Err(words.clone()));
        let (outcome, guard) = here.apply(&wrong);
        assert_eq!(outcome, Outcome::Denied { why: Unavailable::Nonsense { what: words } });
        assert!(guard.is_none());
    }

    #[test]
    fn what_is_understood_is_changed_or_says_why_not() {
        let (on, off) = (Setting::Flag(true), Setting::Flag(false));
        assert_eq!([Of(Switch::<true>).validate(&on), Of(Switch::<true>).validate(&off)], [Ok(()), Ok(())]);
        assert!(Of(Switch::<false>).validate(&on).is_err_and(|why| why.contains("a switch")));
        let (outcome, guard) = Of(Switch::<true>).apply(&on);
        assert_eq!(outcome, Outcome::Applied { was: Some(off.clone()), now: on });
        assert!(guard.is_some());
        let (outcome, guard) = Of(Switch::<true>).apply(&off);
        assert_eq!(outcome, Outcome::Denied { why: Unavailable::NotAsked });
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
