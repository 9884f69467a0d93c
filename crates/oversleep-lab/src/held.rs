//! Settings held for a program that is started from the thread that holds them.

use oversleep_record::Conditions;
use oversleep_record::conditions::{Outcome, Setting};
use oversleep_system::{Reached, Restore};

use crate::session::Laboratory;

/// One setting, held until this is dropped. It belongs to the thread that requested it.
pub struct Held {
    /// Name of the tunable.
    pub name: &'static str,
    /// The requested setting.
    pub requested: Setting,
    /// Its outcome.
    pub outcome: Outcome,
    /// Its scope.
    pub reached: Reached,
    _guard: Option<Box<dyn Restore>>,
}

impl Laboratory {
    /// Holds the requested conditions, for the calling thread or in the scope of each tunable. They are released in
    /// reverse order if the list is dropped from its end.
    pub fn hold(&self, conditions: &Conditions) -> Vec<Held> {
        let held = conditions.requested.iter().filter_map(|(name, requested)| {
            let tunable = self.platform.tunable(name)?;
            let (outcome, guard) = tunable.apply(requested);
            let (name, reached) = (tunable.info().name, tunable.reached());
            Some(Held { name, requested: requested.clone(), outcome, reached, _guard: guard })
        });
        held.collect()
    }
}

#[cfg(test)]
mod tests {
    use oversleep_model::sim::Sim;
    use oversleep_model::testing;
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn each_setting_has_an_outcome_and_ends_with_its_guard() {
        let lab = Laboratory::on(Sim::start(testing::machine().build()));
        let name = lab.resolution_tunable().expect("the model has slack").name;
        let now = || lab.resolution_tunable().expect("the model has slack").current;
        let before = now();
        let held = lab.hold(&Conditions::as_found().with(name, Setting::Nanos(Nanos(1))));
        assert!(matches!(&held[..], [Held { outcome: Outcome::Applied { .. }, .. }]));
        assert_eq!(now(), Ok(Setting::Nanos(Nanos(1))));
        drop(held);
        assert_eq!(now(), before);
    }
}
