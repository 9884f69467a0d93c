//! What Windows states about its timer resolution, beyond the facts.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;
use oversleep_system::{Reached, ResolutionRow};

use super::environment::{system, timer};
use super::os;

/// The resolution in effect now, and whom a request reaches.
pub(super) fn rows() -> Vec<ResolutionRow> {
    if let Some(version) = system::wine_version() {
        return vec![row("what Windows does", "wine_get_version", Err(emulated(&version)))];
    }
    vec![
        row("resolution in effect on the machine", "NtQueryTimerResolution", os::timer_periods().map(sentence)),
        row("whom a request reaches", "RtlGetVersion; registry, GlobalTimerResolutionRequests", reach()),
        row(
            "while all windows are hidden",
            "RtlGetVersion",
            system::version().map(|version| hidden(version.build, version.is_server).to_owned()),
        ),
    ]
}

/// The period in effect now, as a setting.
pub(super) fn in_effect() -> Result<Setting, Unavailable> {
    os::timer_periods().map(|periods| Setting::Nanos(periods.now))
}

fn row(what: &'static str, how: &'static str, says: Result<String, Unavailable>) -> ResolutionRow {
    ResolutionRow { what, says, how }
}

/// Wine returns constants and imitates a build, so neither says whom a request reaches.
fn emulated(version: &str) -> Unavailable {
    Unavailable::failed("NtQueryTimerResolution", system::emulated(version))
}

fn sentence(periods: os::TimerPeriods) -> String {
    let os::TimerPeriods { default, shortest, now } = periods;
    if now < default {
        format!("{now}, requested by some process; default {default}, finest {shortest}")
    } else {
        format!("{now}, the default; no process requests a finer one; finest {shortest}")
    }
}

fn reach() -> Result<String, Unavailable> {
    Ok(if per_process()? {
        "the process that makes it; others keep the default"
    } else {
        "every process on the machine; the finest request wins"
    }
    .to_owned())
}

fn per_process() -> Result<bool, Unavailable> {
    Ok(timer::per_process(system::version()?.build, timer::global_requests()?))
}

/// Whom a request of this process reaches. Wine imitates a build, but follows no rule of it.
pub(super) fn reached() -> Reached {
    reached_by(match system::wine_version() {
        Some(version) => Err(emulated(&version)),
        None => per_process(),
    })
}

fn reached_by(per_process: Result<bool, Unavailable>) -> Reached {
    match per_process {
        Ok(true) => Reached::requesters(),
        Ok(false) => Reached::the_machine(),
        Err(why) => Reached { sentence: format!("what it affects is unknown: {why}"), programs: None },
    }
}

/// <https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod>, remarks.
fn hidden(build: u32, is_server: bool) -> &'static str {
    const DROPPED_SINCE: u32 = 22_000;
    if is_server && build >= DROPPED_SINCE {
        "not documented for servers; Windows 11 of the same age may ignore the request"
    } else if build >= DROPPED_SINCE {
        "Windows may ignore the request, unless the process opts out of power throttling"
    } else {
        "the request stays in effect"
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn a_finer_resolution_is_requested_by_some_process() {
        let periods = |now| os::TimerPeriods { default: Nanos(15_625_000), shortest: Nanos(500_000), now: Nanos(now) };
        let text = sentence(periods(15_625_000));
        assert_eq!(text, "15.6 ms, the default; no process requests a finer one; finest 500 µs");
        let text = sentence(periods(1_000_000));
        assert_eq!(text, "1 ms, requested by some process; default 15.6 ms, finest 500 µs");
    }

    #[test]
    fn under_wine_no_row_describes_windows() {
        assert!(emulated("8.0").to_string().contains("Wine 8.0"));
        assert_eq!(rows().iter().all(|row| row.says.is_err()), system::wine_version().is_some());
    }

    #[test]
    fn the_reach_follows_the_build() {
        assert_eq!(reached_by(Ok(false)), Reached::the_machine());
        assert_eq!(reached_by(Ok(true)).programs, Some(false));
        let unknown = reached_by(Err(emulated("8.0")));
        assert_eq!(unknown.programs, None);
        assert!(unknown.sentence.contains("Wine 8.0"), "{}", unknown.sentence);
        assert_eq!(system::wine_version().is_some(), reached().programs.is_none());
    }

    #[test]
    fn requests_of_hidden_processes_may_be_ignored_since_windows_11() {
        assert_eq!(hidden(19_045, false), "the request stays in effect");
        assert!(hidden(26_100, true).contains("not documented for servers"));
        assert_eq!(hidden(20_348, true), "the request stays in effect");
        assert!(hidden(22_000, false).contains("may ignore"));
    }

    #[test]
    fn every_row_has_a_value_on_windows() {
        let has_values = rows().iter().all(|row| row.says.is_ok());
        assert!(has_values || system::wine_version().is_some(), "{:?}", rows());
    }
}
