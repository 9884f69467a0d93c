//! CPUs that the kernel keeps free for programs which must not be disturbed.

use oversleep_record::conditions::{Outcome, Setting};
use oversleep_record::{Environment, FactName, Unavailable};
use oversleep_system::{Restore, tunables::names};

use crate::session::Laboratory;

/// This thread, and those that it starts, stay off some CPUs until this is dropped.
pub struct KeptOff {
    /// The CPUs that are isolated (`isolcpus=`) or tickless (`nohz_full=`).
    pub cpus: Vec<u32>,
    _guard: Option<Box<dyn Restore>>,
}

impl Laboratory {
    /// Keeps this thread, and those that it starts, off isolated and tickless CPUs: a wake-up there would disturb whom they
    /// are kept free for. `None` if it may use none of them, or no others.
    ///
    /// # Errors
    /// Why it can't be kept off them.
    pub fn keep_off_reserved(&self) -> Result<Option<KeptOff>, Unavailable> {
        let (rest, cpus) = split(&self.cpus(), &self.platform.environment());
        if cpus.is_empty() || rest.is_empty() {
            return Ok(None);
        }
        let pin = self.platform.tunable(names::PIN).ok_or(Unavailable::NotOnThisPlatform)?;
        match pin.apply(&Setting::Cpus(rest)) {
            (Outcome::Denied { why }, _) => Err(why),
            (_, guard) => Ok(Some(KeptOff { cpus, _guard: guard })),
        }
    }
}

/// The allowed CPUs that anybody may use, and those that are reserved.
fn split(allowed: &[u32], facts: &Environment) -> (Vec<u32>, Vec<u32>) {
    let lists = [FactName::KernelIsolatedCpus, FactName::KernelNohzFullCpus].map(|name| facts.list(name));
    let ranges: Vec<(u32, u32)> = lists.into_iter().flatten().flatten().filter_map(|text| range(text)).collect();
    let is_free = |cpu: &u32| !ranges.iter().any(|(first, last)| (first..=last).contains(&cpu));
    allowed.iter().partition(|cpu| is_free(cpu))
}

/// `2-5` or `8`.
fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;
    use oversleep_model::testing::machine;
    use oversleep_record::environment::FactValue;

    use super::*;

    fn facts(isolated: &[&str], tickless: &[&str]) -> Environment {
        let list = |texts: &[&str]| FactValue::List(texts.iter().map(|text| (*text).to_owned()).collect());
        let mut facts = Environment::default();
        facts.set(FactName::KernelIsolatedCpus, list(isolated), "test");
        facts.set(FactName::KernelNohzFullCpus, list(tickless), "test");
        facts
    }

    #[test]
    fn isolated_and_tickless_cpus_are_reserved_and_the_others_are_free() {
        let all: Vec<u32> = (0..10).collect();
        assert_eq!(split(&all, &facts(&["8"], &["2-5", "9"])), (vec![0, 1, 6, 7], vec![2, 3, 4, 5, 8, 9]));
        assert_eq!(split(&[3, 4], &facts(&[], &["2-5"])), (vec![], vec![3, 4]), "no others");
        assert_eq!(split(&[0, 1], &facts(&[], &["2-5"])), (vec![0, 1], vec![]));
        assert_eq!(
            split(&all[..2], &Environment::default()),
            (vec![0, 1], vec![]),
            "what isn't known reserves nothing"
        );
    }

    #[test]
    fn a_thread_stays_off_tickless_cpus_until_the_guard_is_dropped() {
        let mut machine = machine().with_cpus(4).build();
        machine.facts.set(FactName::KernelNohzFullCpus, FactValue::List(vec!["2-3".to_owned()]), "test");
        let lab = Laboratory::on(Sim::start(machine));
        let pinned = || lab.platform.tunable(names::PIN).expect("there is one").current();
        let before = pinned();
        let kept = lab.keep_off_reserved().unwrap().expect("two are reserved");
        assert_eq!((&kept.cpus[..], pinned()), (&[2, 3][..], Ok(Setting::Cpus(vec![0, 1]))));
        drop(kept);
        assert_eq!(pinned(), before);
    }

    #[test]
    fn a_machine_without_reserved_cpus_is_left_as_it_is() {
        let lab = Laboratory::on(Sim::start(machine().build()));
        assert!(lab.keep_off_reserved().is_ok_and(|kept| kept.is_none()));
    }
}
