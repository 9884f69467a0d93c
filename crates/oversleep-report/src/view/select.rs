//! Selects the series of a result that belong together.

use std::collections::BTreeSet;

use oversleep_explain::COMMON_REQUEST;
use oversleep_record::conditions::{Conditions, Outcome};
use oversleep_record::distinct_rounds;
use oversleep_record::series::{Quantity, Status};
use oversleep_record::{Disturbance, ExperimentId, Nanos, ResultFile, Series, Unavailable};
use oversleep_system::waits::sets::plain_sleeps;

/// Series of an experiment that have values.
pub fn measured(file: &ResultFile, experiment: ExperimentId) -> impl Iterator<Item = &Series> {
    file.experiment(experiment).filter(|series| series.has_values())
}

/// The subject of a series, for a reader who doesn't know its key.
pub fn subject_in_words(quantity: Quantity, subject: &str) -> &str {
    match quantity {
        Quantity::IdleResidency => "time in idle states",
        Quantity::Power => "power",
        _ => subject,
    }
}

/// Why a series has no values, if it says.
pub fn unavailable(series: &Series) -> Option<&Unavailable> {
    match &series.status {
        Status::Unavailable { reason } => Some(reason),
        _ => None,
    }
}

/// Distinct requests of these series, shortest first.
pub fn requests<'a>(series: impl Iterator<Item = &'a Series>) -> Vec<Nanos> {
    series.filter_map(|series| series.requested_ns).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The distinct items in the order they come.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// The system's simplest sleep at the common request.
pub fn plain_sleep(file: &ResultFile) -> Option<&Series> {
    plain_sleeps(&file.platform.os).iter().find_map(|wait| {
        measured(file, ExperimentId::B5)
            .find(|series| series.subject == *wait && series.requested_ns == Some(COMMON_REQUEST))
    })
}

/// The request to show if there is room for one: 1 ms, else the one nearest to it.
pub fn common_request<'a>(series: impl Iterator<Item = &'a Series>) -> Option<Nanos> {
    requests(series).into_iter().min_by_key(|&requested| (requested - COMMON_REQUEST).0.saturating_abs())
}

/// Load kept up during a series: `spin:2`.
pub fn load(series: &Series) -> Option<String> {
    let all: Vec<String> = series.conditions.load.iter().map(ToString::to_string).collect();
    (!all.is_empty()).then(|| all.join(" + "))
}

/// The conditions requested: `policy fifo:1, load spin:2`, `as found`.
pub fn requested_conditions(conditions: &Conditions) -> String {
    let tunables = conditions.requested.iter().map(|(name, setting)| format!("{name} {setting}"));
    let loads = conditions.load.iter().map(|load| format!("load {load}"));
    let all: Vec<String> = tunables.chain(loads).collect();
    if all.is_empty() { "as found".to_owned() } else { all.join(", ") }
}

/// The conditions of a series with their outcomes; `None` if nothing was changed.
pub fn conditions(conditions: &Conditions) -> Option<String> {
    if conditions.is_as_found() {
        return None;
    }
    let tunables = conditions.requested.iter().map(|(name, requested)| match conditions.outcomes.get(name) {
        Some(Outcome::Applied { was: Some(was), now }) => format!("{name} {now} (was {was})"),
        Some(Outcome::Applied { was: None, now }) => format!("{name} {now}"),
        Some(Outcome::AlreadySo { is }) => format!("{name} {is} (as found)"),
        Some(Outcome::Denied { why }) => format!("{name} {requested} refused: {why}"),
        None => format!("{name} {requested} requested, outcome not recorded"),
    });
    let loads = conditions.load.iter().map(|load| format!("load {load}"));
    Some(tunables.chain(loads).collect::<Vec<_>>().join("; "))
}

/// The tunables that every series requests at the same setting: the user set them, not an experiment.
pub fn set_by_the_user(file: &ResultFile) -> BTreeSet<&str> {
    let Some(first) = file.series.first() else { return BTreeSet::new() };
    let is_same = |name: &&String| {
        file.series.iter().all(|other| other.conditions.setting(name) == first.conditions.setting(name))
    };
    first.conditions.requested.keys().filter(is_same).map(String::as_str).collect()
}

/// The tunables of a series that are in `is_wanted` and that the system refused to set: `policy fifo:1: why`.
pub fn refusals(series: &Series, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let conditions = &series.conditions;
    let refused = conditions.outcomes.iter().filter(|(name, _)| is_wanted(name)).filter_map(|(name, outcome)| {
        let Outcome::Denied { why } = outcome else { return None };
        let requested = conditions.requested.get(name).map(|value| format!(" {value}")).unwrap_or_default();
        Some(format!("{name}{requested}: {why}"))
    });
    refused.collect()
}

/// The machine's other activity during these series. Series measured at the same time count once.
pub fn disturbance<'a>(series: impl Iterator<Item = &'a Series>) -> Disturbance {
    distinct_rounds(series).into_iter().fold(Disturbance::default(), |sum, round| sum.merged(&round.disturbance))
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Setting;
    use oversleep_record::testing::{Sheet, rounds};

    use super::*;

    #[test]
    fn a_window_shared_by_two_series_counts_once() {
        let pair = [rounds("B1/nanosleep/1ms/coarse", &[0; 3], 9), rounds("B1/nanosleep/1ms/precise", &[1; 3], 9)];
        assert_eq!(disturbance(pair.iter()).window_ns, pair[0].disturbance().window_ns);
    }

    #[test]
    fn the_plain_sleep_is_one_of_a_millisecond() {
        let plain = |sheet: Sheet| plain_sleep(&sheet.file).map(|series| series.key.to_string());
        let long = || Sheet::linux().steady("B5/nanosleep/5ms", 1).steady("B5/poll/1ms", 1);
        assert_eq!(plain(long().steady("B5/nanosleep/1ms", 1)).as_deref(), Some("B5/nanosleep/1ms"));
        assert_ne!(plain(long()).as_deref(), Some("B5/nanosleep/5ms"));
    }

    #[test]
    fn conditions_say_what_became_of_them() {
        let requested = Conditions::as_found().with("policy", Setting::Policy { policy: "fifo".into(), priority: 80 });
        assert_eq!(conditions(&Conditions::as_found()), None);
        assert_eq!(conditions(&requested).as_deref(), Some("policy fifo:80 requested, outcome not recorded"));
        let mut denied = requested.with_load("spin", 2);
        let why = Unavailable::not_permitted("SCHED_FIFO", "grant CAP_SYS_NICE");
        denied.outcomes.insert("policy".into(), Outcome::Denied { why });
        assert_eq!(
            conditions(&denied).as_deref(),
            Some("policy fifo:80 refused: SCHED_FIFO is not permitted (grant CAP_SYS_NICE); load spin:2")
        );
    }

    #[test]
    fn the_common_request_is_a_millisecond_or_the_nearest() {
        let sheet = Sheet::linux().steady("B5/poll/300us", 1).steady("B5/poll/1ms", 1).steady("B5/poll/5ms", 1);
        assert_eq!(common_request(sheet.file.series.iter()), Some(Nanos::from_millis(1)));
        assert_eq!(common_request(sheet.file.series[2..].iter()), Some(Nanos::from_millis(5)));
        assert_eq!(common_request([].iter()), None);
    }
}
