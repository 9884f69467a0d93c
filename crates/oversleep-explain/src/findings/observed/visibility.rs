//! What could not be seen of the program's waits.

use oversleep_record::finding::Severity;
use oversleep_record::part::Part;
use oversleep_record::words::{counted, grouped};
use oversleep_record::{Nanos, ResultFile};

use super::{APPLIES_TO, HOW};
use crate::entry::{Checked, Conclusion, Scope};
use crate::finding::{Check, FindingEntry};
use crate::observed::{Cause, Kind, delayed_by, enough, kinds};
use crate::remedies::observed::{COMPARE_WITHOUT_SLACK, FOLLOW_LESS};

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-Y019",
        name: "late-by-unseen-timer",
        summary: "The lateness is the timer's or the waking's, and the follower can't tell which.",
        applies_to: "programs followed by a supervisor, which needs no privileges",
        scope: Scope::Observed,
        severity: Severity::Note,
        meaning: "A supervisor sees when a wait should end, when its thread got a CPU and when it returned. Timer slack, a late \
                  interrupt and slow waking lie between the first two, and look alike from outside.",
        how_we_know: "The thread's timer slack, which the supervisor reads, bounds the part that may be slack.",
        what_to_do: "Run the program with and without slack to see how much it is, or follow it in the kernel.",
        sources: &["https://man7.org/linux/man-pages/man2/ptrace.2.html"],
        remedies: &[&COMPARE_WITHOUT_SLACK],
        check: Check::Causes(unseen_timer),
    },
    FindingEntry {
        id: "OVS-Y020",
        name: "waits-not-split",
        summary: "Some steps of the program's waits were not observed, so their split has a gap.",
        applies_to: APPLIES_TO,
        scope: Scope::Observed,
        severity: Severity::Note,
        meaning: "Events may find no room in the buffer, and the kernel may leave a collector out while another one runs. The \
                  time between the steps that were seen is then unattributed: it is counted, and nobody is blamed for it.",
        how_we_know: HOW,
        what_to_do: "If events were lost, follow fewer processes, or for a shorter time.",
        sources: &["https://docs.kernel.org/bpf/ringbuf.html"],
        remedies: &[&FOLLOW_LESS],
        check: Check::Rule(not_split),
    },
];

fn unseen_timer(file: &ResultFile) -> Checked<Vec<Conclusion>> {
    let is_unseen = |kind: &Kind<'_>| kind.waits.slack_bound_ns.is_some();
    if !enough(file)?.iter().any(is_unseen) {
        return Err(Conclusion::absent("the timers of these waits were seen"));
    }
    let mut refusal = None;
    for part in [Part::Timer, Part::Unattributed] {
        let mut kinds = match delayed_by(file, part, "the timer") {
            Ok(kinds) => kinds,
            Err(why) => {
                refusal.get_or_insert(why);
                continue;
            }
        };
        kinds.retain(is_unseen);
        if kinds.is_empty() {
            continue;
        }
        let cause = Cause::whole(part, &kinds);
        return Ok(vec![about_timer(&cause)]);
    }
    Err(refusal.unwrap_or_else(|| Conclusion::absent("the timer delayed no kind of waits by much")))
}

fn about_timer(cause: &Cause<'_, '_>) -> Conclusion {
    let kind = cause.first();
    let bound = Nanos(kind.waits.slack_bound_ns.map_or(0, |ns| i64::try_from(ns).unwrap_or(i64::MAX)));
    let slack = match bound {
        Nanos::ZERO => "none of it is timer slack".to_owned(),
        bound => format!("up to {bound} of it may be timer slack"),
    };
    let (verb, late) = (if cause.part == Part::Timer { "is woken" } else { "ends" }, kind.typical(cause.part));
    let found = cause.found(format!(
        "{} {verb} {late} late: {slack}; without the kernel's events, a late interrupt and slow waking can't be told apart",
        kind.identity
    ));
    let found = found.rests_on("timer slack", bound.to_string());
    if bound == Nanos::ZERO { found.cured_by(&[]) } else { found }
}

fn not_split(file: &ResultFile) -> Checked {
    let kinds = kinds(file);
    let sum = |of: fn(&Kind<'_>) -> u64| kinds.iter().map(of).fold(0, u64::saturating_add);
    let (count, attributed) = (sum(|kind| kind.count()), sum(|kind| kind.split.attributed_count));
    let losses = file.observation.as_ref().map(|observation| observation.losses.clone()).unwrap_or_default();
    let lost = losses.no_room.saturating_add(losses.vanished).saturating_add(losses.not_run);
    let missed = count.saturating_sub(attributed);
    let sentence = format!("{} of {} are split without a gap", grouped(attributed), counted(count, "wait"));
    if count == 0 {
        enough(file)?;
    }
    // Following ends in the middle of waits, which is no gap.
    if missed == 0 && lost == 0 && losses.threads_not_followed == 0 {
        return Ok(Conclusion::absent(sentence));
    }
    let lines = [
        (missed, "waits with a part that was not observed, which is counted as unattributed"),
        (losses.no_room, "events without room in the buffer"),
        (losses.vanished, "events that were sent and did not arrive"),
        (losses.not_run, "times that the kernel left the collector out"),
        (losses.unfinished, "waits that had not ended, or whose end was not seen"),
        (losses.threads_not_followed, "threads that were too many to follow"),
    ];
    let seen = lines.into_iter().filter(|(count, _)| *count != 0);
    let sentence = if missed == 0 { format!("{sentence}, but some may be missing") } else { sentence };
    let found = seen.fold(Conclusion::found(sentence), |found, (count, what)| {
        found.rests_on("losses", format!("{what}: {}", grouped(count)))
    });
    Ok(if lost == 0 { found.cured_by(&[]) } else { found })
}
