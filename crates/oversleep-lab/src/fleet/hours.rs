//! Hosts that are late at the same hours of every day, unlike their group.

use oversleep_explain::fleet::HOURS;

use super::hosts::{Reason, findings};
use super::judging::{Judging, MEMBERS_MIN};
use super::model::{Figure, Finding, Kind, Part};
use super::profiles::{Profile, began};
use super::{stats, words};

/// What to do about a machine that has no hypervisor, and so no neighbours.
const HOURS_BARE: &str = "Run `oversleep watch` there at these hours, and look for a job that runs then: a backup, a timer of \
                          systemd or cron. The machine has no hypervisor, and so no neighbours.";

/// One finding for each host that is late at the same hours of every day, unlike its group.
pub(super) fn late(judging: &Judging<'_>, profiles: &[Profile]) -> Vec<Finding> {
    let mut reasons = Vec::new();
    for kind in 0..judging.all.kinds.len() {
        for wait in 0..judging.all.waits.all.len() {
            for figure in Figure::ALL {
                let is_of = |profile: &&Profile| {
                    judging.all.hosts[profile.host].kind as usize == kind
                        && (profile.wait, profile.figure) == (wait, figure)
                };
                let members: Vec<&Profile> = profiles.iter().filter(is_of).collect();
                Part::ALL.iter().for_each(|&part| reasons.extend(late_in(judging, &members, part)));
            }
        }
    }
    let mut found = findings(judging, &HOURS, reasons, |name, kind, since, words| {
        format!("{name} ({kind}) is late at certain hours {since}: {words}, and its group is not.")
    });
    // Nobody else is on a machine without a hypervisor.
    let is_bare = |finding: &&mut Finding| finding.kind.as_ref().is_some_and(Kind::is_bare);
    found.iter_mut().filter(is_bare).for_each(|finding| HOURS_BARE.clone_into(&mut finding.next_step));
    found
}

/// Those of a group that are later in a part of the day than in others, by more than is usual in the group.
fn late_in(judging: &Judging<'_>, members: &[&Profile], part: Part) -> Vec<Reason> {
    let at = usize::from(part.0);
    let of = |profile: &&Profile| stats::median(&profile.by_part[at].values().copied().collect::<Vec<f64>>());
    let known: Vec<(&Profile, f64)> = members.iter().filter_map(|profile| Some((*profile, of(profile)?))).collect();
    let further: Vec<f64> = known.iter().map(|(_, further)| *further).collect();
    let Some((middle, spread)) = stats::middle_and_spread(&further).filter(|_| known.len() >= MEMBERS_MIN) else {
        return Vec::new();
    };
    let unusual_from = stats::unusual_from(known.len(), judging.comparisons);
    let late = known.into_iter().filter_map(|(profile, further)| {
        let by_day = &profile.by_part[at];
        let deviations = (further - middle) / spread;
        let days: Vec<f64> = by_day.values().map(|day| day - middle).collect();
        let ratio = stats::of_days(&days, 1)?.exp();
        let is_steady = stats::of_days(&days, judging.comparisons).is_some_and(|days| days.low > 0.0);
        let is_late = deviations > unusual_from && is_steady && stats::matters(ratio.value);
        let since = began(by_day, ratio.value.ln()).map(|day| i64::from(day) * 86_400 + i64::from(part.0) * 21_600);
        let (wait, times) = (&judging.all.waits.all[profile.wait], words::times(&ratio, days.len(), "day"));
        is_late.then(|| Reason {
            host: profile.host,
            deviations,
            since_unix_s: since,
            ratio: Some(ratio),
            words: format!("from {part} UTC {} of {wait} is {times} as at other hours", profile.figure),
        })
    });
    late.collect()
}
