//! Settings that the question requests for the asking process and thread.

use oversleep_system::{Platform, Restore};

use super::question::Question;

/// Holds them on the calling thread until the guards are dropped.
pub(super) fn hold(platform: &dyn Platform, question: &Question) -> Vec<Option<Box<dyn Restore>>> {
    let settings = question.conditions.requested.iter();
    settings.filter_map(|(name, setting)| Some(platform.tunable(name)?.apply(setting).1)).collect()
}
