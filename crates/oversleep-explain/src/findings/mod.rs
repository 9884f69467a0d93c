//! The registry of findings and the one function that asks them all.

use oversleep_record::ResultFile;
use oversleep_record::finding::{Finding, Severity, Verdict};

use super::advice::advise;
use super::entry::{FindingEntry, Scope};
use super::read::wine_version;

mod baseline;
mod clock_reads;
mod clock_steps;
mod contention;
mod early;
mod fork_join;
mod heat;
mod idle;
mod on_macos;
mod on_windows;
mod poll_slack;
mod quota;
mod real_time;
mod rounding;
mod slack;
mod spin;
mod sweep;
mod tsc;
mod virtual_machine;
mod wrong_clock;

pub(super) use on_windows::half_millisecond::half_and_above;
pub(super) use on_windows::high_resolution::HIGH_RESOLUTION;
#[cfg(any(test, feature = "testing"))]
pub(super) use on_windows::names as names_on_windows;
pub(super) use on_windows::tolerance::{PLAIN, TOLERANT};
pub(super) use slack::EXACT_WAITS;

static REGISTRY: [FindingEntry; 43] = [
    slack::TIMER_SLACK,
    poll_slack::NICE_POLL_SLACK,
    poll_slack::LONG_TIMEOUT_SLACK,
    rounding::MILLISECOND_TIMEOUT,
    slack::WAITS_WITHOUT_SLACK,
    rounding::SOCKET_TIMEOUT_TICK,
    real_time::NOT_PERMITTED,
    real_time::THROTTLING,
    clock_reads::CLOCK_IS_SYSTEM_CALL,
    tsc::UNRELIABLE_TSC,
    contention::HYPERVISOR_STEAL,
    quota::THROTTLED,
    quota::QUOTA,
    contention::CPU_PRESSURE,
    idle::DEEP_IDLE,
    idle::POWER_SAVING_GOVERNOR,
    contention::OVERSUBSCRIBED,
    baseline::WAKE_UP_BASELINE,
    virtual_machine::GUEST,
    on_windows::tick::DEFAULT_TICK,
    on_windows::neighbour::NEIGHBOUR_RAISED,
    on_windows::neighbour::OWN_REQUEST,
    on_windows::hidden::HIDDEN_WINDOW,
    on_windows::half_millisecond::HALF_MILLISECOND,
    on_windows::tick_count::TICK_COUNT,
    on_windows::coarse_time::COARSE_SYSTEM_TIME,
    on_windows::early_return::EARLY_RETURN,
    on_windows::high_resolution::HIGH_RESOLUTION_TIMER,
    on_windows::tolerance::TIMER_TOLERANCE,
    on_windows::power::RESOLUTION_POWER,
    on_windows::wine::UNDER_WINE,
    on_macos::TIMER_LEEWAY,
    on_macos::TIME_CONSTRAINT,
    wrong_clock::CPU_TIME_CLOCK,
    clock_steps::COARSE_CLOCK,
    early::EARLY_WAKE_UPS,
    clock_steps::BACKWARD_CLOCK,
    fork_join::FORK_JOIN,
    sweep::SLEEP_GRID,
    spin::SPIN_COST,
    spin::YIELD_NO_SLEEP,
    clock_reads::FASTEST_CLOCK,
    heat::THERMAL_THROTTLING,
];

/// Every finding there is, by id.
pub fn registry() -> &'static [FindingEntry] {
    &REGISTRY
}

/// The finding of that id or name.
pub fn entry(id_or_name: &str) -> Option<&'static FindingEntry> {
    let wanted = id_or_name.trim();
    registry().iter().find(|entry| entry.id.eq_ignore_ascii_case(wanted) || entry.name.eq_ignore_ascii_case(wanted))
}

/// What every finding that applies comes to in this result: first what was found, the gravest first; then what is too
/// disturbed, what lacks data, what is absent.
pub fn findings(file: &ResultFile) -> Vec<Finding> {
    let mut findings: Vec<Finding> = registry().iter().filter_map(|entry| concluded(file, entry)).collect();
    findings.sort_by_key(|finding| {
        let verdict = match finding.verdict {
            Verdict::Found => 0,
            Verdict::TooDisturbed => 1,
            Verdict::NotEnoughData => 2,
            Verdict::Absent => 3,
        };
        (verdict, if verdict == 0 { finding.severity } else { Severity::Note })
    });
    findings
}

fn concluded(file: &ResultFile, entry: &FindingEntry) -> Option<Finding> {
    if !entry.scope.covers(file) {
        return None;
    }
    let wine = wine_version(file).filter(|_| Scope::Os("windows").covers(file));
    let is_of_windows = entry.scope != Scope::Anywhere && entry.id != on_windows::wine::UNDER_WINE.id;
    let conclusion = match wine {
        Some(version) if is_of_windows => on_windows::wine::not_asked(version),
        _ => (entry.check)(file),
    };
    let (verdict, mut statement) = conclusion.into_parts()?;
    if let Some(version) = wine.filter(|_| entry.scope == Scope::Anywhere && verdict != Verdict::NotEnoughData) {
        statement.sentence = format!("under Wine {version}: {}", statement.sentence);
    }
    // A cure is advice only where there is something to cure.
    let remedies = statement.remedies.unwrap_or(entry.remedies);
    let advice = if verdict == Verdict::Found { advise(file, remedies) } else { Vec::new() };
    Some(Finding {
        id: entry.id.to_owned(),
        name: entry.name.to_owned(),
        summary: entry.summary.to_owned(),
        severity: statement.severity.unwrap_or(entry.severity),
        verdict,
        sentence: statement.sentence,
        evidence: statement.evidence,
        advice,
    })
}

#[cfg(test)]
mod tests;
