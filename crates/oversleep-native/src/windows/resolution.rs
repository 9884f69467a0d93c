//! What Windows tells about its timer resolution beyond the facts.

use oversleep_record::Unavailable;
use oversleep_record::conditions::Setting;

use super::environment::{system, timer};
use super::os;
use oversleep_system::{Reached, ResolutionRow};

/// What is in effect and whom a request reaches, asked now.
pub(super) fn rows() -> Vec<ResolutionRow> {
    if let Some(version) = system::wine_version() {
        return vec![row("what Windows does", "wine_get_version", Err(played(&version)))];
    }
    vec![
        row("period in effect on the machine", "NtQueryTimerResolution", os::timer_periods().map(said)),
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

/// Wine answers with constants and plays a build: neither says whom a request reaches.
fn played(version: &str) -> Unavailable {
    Unavailable::failed("NtQueryTimerResolution", system::played(version))
}

fn said(periods: os::TimerPeriods) -> String {
    let os::TimerPeriods { default, shortest, now } = periods;
    if now < default {
        format!("{now}, because some process asked for it; {default} by default, {shortest} at best")
    } else {
        format!("{now}: nobody asks for less; {shortest} at best")
    }
}

fn reach() -> Result<String, Unavailable> {
    Ok(if per_process()? {
        "the process that makes it; the waits of others keep to the default"
    } else {
        "every process of the machine; the shortest request wins"
    }
    .to_owned())
}

fn per_process() -> Result<bool, Unavailable> {
    Ok(timer::per_process(system::version()?.build, timer::global_requests()?))
}

/// Whom a request of this process reaches. Wine plays a build and keeps to no rule of it.
pub(super) fn reached() -> Reached {
    reached_by(match system::wine_version() {
        Some(version) => Err(played(&version)),
        None => per_process(),
    })
}

fn reached_by(per_process: Result<bool, Unavailable>) -> Reached {
    match per_process {
        Ok(true) => Reached::requesters(),
        Ok(false) => Reached::the_machine(),
        Err(why) => Reached { sentence: format!("whom it reaches is unknown: {why}"), programs: None },
    }
}

/// <https://learn.microsoft.com/windows/win32/api/timeapi/nf-timeapi-timebeginperiod>, remarks.
fn hidden(build: u32, is_server: bool) -> &'static str {
    const DROPPED_SINCE: u32 = 22_000;
    if is_server && build >= DROPPED_SINCE {
        "nothing is documented of servers; Windows 11 of this age may drop the request"
    } else if build >= DROPPED_SINCE {
        "the request may be dropped, unless the process opts out of power throttling"
    } else {
        "the request stays"
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn a_shorter_period_is_somebodys_wish() {
        let periods = |now| os::TimerPeriods { default: Nanos(15_625_000), shortest: Nanos(500_000), now: Nanos(now) };
        assert_eq!(said(periods(15_625_000)), "15.6 ms: nobody asks for less; 500 µs at best");
        let text = said(periods(1_000_000));
        assert_eq!(text, "1 ms, because some process asked for it; 15.6 ms by default, 500 µs at best");
    }

    #[test]
    fn under_wine_nothing_is_said_of_windows() {
        assert!(played("8.0").to_string().contains("Wine 8.0"));
        assert_eq!(rows().iter().all(|row| row.says.is_err()), system::wine_version().is_some());
    }

    #[test]
    fn a_program_is_promised_what_the_build_gives_it() {
        assert_eq!(reached_by(Ok(false)), Reached::the_machine());
        assert_eq!(reached_by(Ok(true)).programs, Some(false));
        let unknown = reached_by(Err(played("8.0")));
        assert_eq!(unknown.programs, None);
        assert!(unknown.sentence.contains("Wine 8.0"), "{}", unknown.sentence);
        assert_eq!(system::wine_version().is_some(), reached().programs.is_none());
    }

    #[test]
    fn requests_of_hidden_processes_are_dropped_since_windows_11() {
        assert_eq!(hidden(19_045, false), "the request stays");
        assert!(hidden(26_100, true).contains("nothing is documented of servers"));
        assert_eq!(hidden(20_348, true), "the request stays");
        assert!(hidden(22_000, false).contains("may be dropped"));
    }

    #[test]
    fn every_row_says_something() {
        let is_said = rows().iter().all(|row| row.says.is_ok());
        assert!(is_said || system::wine_version().is_some(), "{:?}", rows());
    }
}
