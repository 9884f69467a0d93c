//! Other processes' requests for a timer resolution: whether one is in force, and whether it serves this process.

use oversleep_record::finding::Severity;
use oversleep_record::{ExperimentId, FactName, Nanos, Os, ResultFile, Series, label};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::duration;
use crate::finding::{Check, FindingEntry};
use crate::read::windows::{
    BUILD_2004, beside_neighbour, build, default_period, is_default_tick, is_plain_millisecond, period_as_found,
    sleep_as_found, sleep_with_a_millisecond, took,
};
use crate::read::{COMMON_REQUEST, is_sound, known, not_measured, sound};
use crate::remedies::windows::{REQUEST_TIMER_RESOLUTION, USE_HIGH_RESOLUTION_TIMER};

const PERIOD_NOW: FactName = FactName::TimerPeriodNow;

pub(super) static FINDINGS: &[FindingEntry] = &[
    FindingEntry {
        id: "OVS-W002",
        name: "neighbour-raised-tick",
        summary: "Another process holds a finer timer resolution than the default, and figures measured meanwhile \
                  depend on it.",
        applies_to: "Windows, every version; browsers, media players, chat programs and games are frequent neighbours",
        scope: Scope::Os(Os::Windows),
        severity: Severity::Note,
        meaning: "The clock interrupt runs at the finest timer resolution that any process requested, for as long as that \
                  process lives or holds the request. Before Windows 10 2004 every wait of every process then ends on that \
                  finer tick, so a program behaves differently while a browser is open. Since then only the coarse clocks \
                  (timeGetTime, GetSystemTimeAsFileTime) follow the neighbour everywhere; the waits of a process follow its \
                  own request.",
        how_we_know: "A second oversleep process holds one resolution after another, while this one, which requested \
                      nothing, measures a plain sleep. oversleep also reads the period in force with \
                      NtQueryTimerResolution before it requests anything. Windows does not say which process requested \
                      it; powercfg /energy lists them.",
        what_to_do: "A result that looks good here may be a neighbour's doing. Request what the program needs in the program \
                     itself, or wait on a high-resolution timer.",
        sources: &[
            "https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod",
            "https://randomascii.wordpress.com/2020/10/04/windows-timer-resolution-the-great-rule-change/",
        ],
        remedies: &[&REQUEST_TIMER_RESOLUTION, &USE_HIGH_RESOLUTION_TIMER],
        check: Check::Rule(neighbour_raised),
    },
    FindingEntry {
        id: "OVS-W003",
        name: "own-request-needed",
        summary: "Since Windows 10 2004 a finer timer resolution serves only the process that requests it.",
        applies_to: "Windows 10 2004 (build 19041) and later, without GlobalTimerResolutionRequests",
        scope: Scope::Os(Os::Windows),
        severity: Severity::Cost,
        meaning: "Up to Windows 10 1909, one process's request shortened the waits of every process, and many programs \
                  relied on it without knowing. Since 2004 the waits of a process that requested nothing keep to the \
                  default period, or to a multiple of the finer tick that is close to it, even while the interrupt \
                  runs at 1 ms. Windows Server 2022, and Windows 11 with the registry value \
                  GlobalTimerResolutionRequests, share requests as before.",
        how_we_know: "A second process holds 1 ms while this one, which requested nothing, measures its plain sleep. Then \
                      this process requests 1 ms itself.",
        what_to_do: "Call timeBeginPeriod in the process whose threads wait, or wait on a high-resolution timer.",
        sources: &[
            "https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod",
            "https://randomascii.wordpress.com/2020/10/04/windows-timer-resolution-the-great-rule-change/",
        ],
        remedies: &[&REQUEST_TIMER_RESOLUTION, &USE_HIGH_RESOLUTION_TIMER],
        check: Check::Rule(own_request),
    },
];

/// The effect of oversleep's own neighbour on the plain sleep of this process, if both were measured: the finest one
/// that shortened it. `None` if none had an effect or none was started.
///
/// # Errors
/// It was measured, but inconclusively.
fn raised_by_ours(file: &ResultFile) -> Checked<Option<Conclusion>> {
    let mut sleeps = file.experiment(ExperimentId::C3).filter(|series| is_plain_millisecond(file, series));
    let Some(alone) = sleeps.find(|series| series.label(label::NEIGHBOUR).is_some_and(|held| held.0.is_empty())) else {
        return Ok(None);
    };
    let by_finest = |(held, _): &(Nanos, &Series)| *held;
    let beside = || beside_neighbour(file).filter(|(_, series)| is_plain_millisecond(file, series));
    let fit = beside().filter(|(_, series)| is_sound(series)).min_by_key(by_finest);
    let Some((held, beside)) = fit.or_else(|| beside().min_by_key(by_finest)) else { return Ok(None) };
    let (was, is) = (duration(sound(alone)?), duration(sound(beside)?));
    if !is_default_tick(file, was) || is_default_tick(file, is) {
        return Ok(None);
    }
    let sentence = format!(
        "one process's request serves all processes here: while another one held a {held} timer resolution, {} instead of {was}",
        took(beside)
    );
    Ok(Some(Conclusion::found(sentence).rests_on_series([beside, alone])))
}

fn neighbour_raised(file: &ResultFile) -> Checked {
    let by_ours = raised_by_ours(file);
    if let Ok(Some(found)) = by_ours {
        return Ok(found);
    }
    let now = known(file, PERIOD_NOW, "the timer resolution in force", period_as_found(file))?;
    let default = default_period(file);
    if now.0.saturating_mul(100) >= default.0.saturating_mul(99) {
        // No process holds a request, so the machine as found doesn't show what a request would do. Only the neighbour can.
        by_ours?;
        let sentence = format!("the timer resolution is the default, {default}: no process requests a finer one");
        return Ok(Conclusion::absent(sentence).rests_on(PERIOD_NOW, now.to_string()));
    }
    let found =
        Conclusion::found(format!("another process holds a timer resolution of {now}: this process requested none"))
            .rests_on(PERIOD_NOW, now.to_string());
    let Some(sleep) = sleep_as_found(file).ok() else { return Ok(found) };
    let effect = if is_default_tick(file, duration(sleep)) {
        format!("; this process's waits don't follow it: {}", took(sleep))
    } else {
        format!(
            "; this process's waits gain by it: {}, and may take {default} once the other process ends",
            took(sleep)
        )
    };
    Ok(found.and(effect).rests_on_series([sleep]))
}

fn own_request(file: &ResultFile) -> Checked {
    const BUILD: FactName = FactName::OsBuild;
    let build = build(file)?;
    if build < BUILD_2004 {
        let sentence = format!(
            "on build {build} one process's request serves all processes (until build {BUILD_2004}, Windows 10 2004)"
        );
        return Ok(Conclusion::absent(sentence).rests_on(BUILD, build.to_string()));
    }
    let beside = beside_neighbour(file)
        .filter(|(held, series)| *held <= COMMON_REQUEST * 2 && is_plain_millisecond(file, series))
        .min_by_key(|(held, _)| (*held - COMMON_REQUEST).0.saturating_abs());
    // A process that happened to run shows the same.
    let by_chance = period_as_found(file)
        .filter(|&now| now <= COMMON_REQUEST * 2)
        .and_then(|now| Some((now, sleep_as_found(file).ok()?)));
    let beside = beside.or(by_chance).filter(|(_, sleep)| is_sound(sleep) || !requests_are_shared(file));
    if beside.is_none() && requests_are_shared(file) {
        let absent = Conclusion::absent(format!(
            "on build {build}, as it is set up, one process's request serves all processes"
        ));
        return Ok(absent.rests_on(BUILD, build.to_string()).rests_on(FactName::TimerRequestsPerProcess, "no"));
    }
    let (held, sleep) =
        beside.ok_or_else(|| not_measured(file, ExperimentId::C3, "a sleep while another process holds 1 ms"))?;
    let beside = format!("while another one held a {held} timer resolution, {}", took(sound(sleep)?));
    let own = sleep_with_a_millisecond(file).filter(|_| is_default_tick(file, duration(sleep)));
    let conclusion = match own {
        _ if !is_default_tick(file, duration(sleep)) => {
            let is_set = file.environment.flag(FactName::TimerGlobalRequests) == Some(true);
            let set = if is_set { " (GlobalTimerResolutionRequests is set)" } else { "" };
            Conclusion::absent(format!("one process's request serves all processes here: {beside}{set}"))
        }
        Some(own) if is_default_tick(file, duration(own)) => Conclusion::absent(format!(
            "no request changes the tick here: {beside}, and {} while this process held 1 ms itself",
            duration(own)
        )),
        Some(own) => Conclusion::found(format!(
            "each process must make its own request here (build {build}): {beside}, but {} while this process held 1 ms \
             itself",
            duration(own)
        )),
        None => Conclusion::found(format!("each process must make its own request here (build {build}): {beside}")),
    };
    Ok(conclusion.rests_on(BUILD, build.to_string()).rests_on_series([sleep]).rests_on_series(own))
}

/// Whether the system itself states that requests apply to all processes: Windows Server 2022, and the registry value.
fn requests_are_shared(file: &ResultFile) -> bool {
    file.environment.flag(FactName::TimerRequestsPerProcess) == Some(false)
}

#[cfg(test)]
mod tests;
