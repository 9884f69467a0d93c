//! Remedies a program applies on Windows.

use oversleep_record::conditions::Setting;
use oversleep_record::{Conditions, ExperimentId, Nanos};

use super::super::advice;
use super::super::entry::Scope;
use super::super::findings::{HIGH_RESOLUTION, PLAIN, TOLERANT};
use super::{Harmless, RemedyEntry};

fn one_millisecond() -> Conditions {
    Conditions::as_found().with("resolution", Setting::Nanos(Nanos::from_millis(1)))
}

const PROGRAM: &str = "it is a change of the program, not of the machine";

pub(super) const REMEDIES: &[RemedyEntry] = &[
    RemedyEntry {
        id: "request-timer-resolution",
        scope: Scope::Os("windows"),
        summary: "The process's waits end on a tick of 1 ms instead of 15.6 ms.",
        how: "Ask for the period in the process that waits, and take the request back as soon as punctual waits no longer \
              matter; it costs power while it is held.",
        example: Some(
            "/* C, winmm.lib */\n#include <windows.h>\n#include <timeapi.h>\ntimeBeginPeriod(1);\n/* … */\n\
             timeEndPeriod(1);\n\n# command, before Windows 10 2004: there a request reaches other programs\n\
             oversleep resolution hold 1ms -- app.exe",
        ),
        harmless: Harmless::TryHere(one_millisecond),
        compare: None,
    },
    RemedyEntry {
        id: "use-high-resolution-timer",
        scope: Scope::Having("windows", "waitable-timer-high-resolution"),
        summary: "On a machine that is not busy the wait ends 0.5 to 1 ms late as a rule, whatever the tick, and nobody has to ask for one.",
        how: "Wait on a waitable timer made with CREATE_WAITABLE_TIMER_HIGH_RESOLUTION (Windows 10 1803); std::thread::sleep \
              does since Rust 1.75.",
        example: Some(
            "/* C */\n#include <windows.h>\n\
             HANDLE timer = CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, TIMER_ALL_ACCESS);\n\
             LARGE_INTEGER due = { .QuadPart = -10000 }; /* 1 ms from now, in units of 100 ns */\n\
             SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE);\nWaitForSingleObject(timer, INFINITE);",
        ),
        harmless: Harmless::MeasuredBy(ExperimentId::B5, &["waitable-timer-high-resolution"]),
        compare: Some(|file| {
            let before = advice::plain_sleep(file)?;
            let after = advice::wait_like(file, HIGH_RESOLUTION, before)?;
            Some(advice::measured(before, after))
        }),
    },
    RemedyEntry {
        id: "keep-resolution-while-hidden",
        scope: Scope::Os("windows"),
        summary: "The request stays in force while the process's windows can't be seen.",
        how: "Opt out of the timer throttling of hidden processes with SetProcessInformation, or wait on a \
              high-resolution timer, which needs no request.",
        example: Some(
            "/* C */\n#include <windows.h>\nPROCESS_POWER_THROTTLING_STATE state = {\n    \
             .Version = PROCESS_POWER_THROTTLING_CURRENT_VERSION,\n    \
             .ControlMask = PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION,\n    \
             .StateMask = 0, /* do not ignore it */\n};\n\
             SetProcessInformation(GetCurrentProcess(), ProcessPowerThrottling, &state, sizeof state);",
        ),
        harmless: Harmless::NotTriedBecause("it shows only in a process with a window that is hidden"),
        compare: None,
    },
    RemedyEntry {
        id: "request-just-above-half",
        scope: Scope::Os("windows"),
        summary: "A wait of 1 ms takes two ticks of 0.507 ms instead of three of 0.5 ms.",
        how: "Ask for 0.507 ms (5,070 units of 100 ns) rather than for 0.5 ms, and measure: the grid of the hardware \
              decides.",
        example: Some(
            "/* C, ntdll.dll */\nULONG granted;\nNtSetTimerResolution(5070, TRUE, &granted); /* in units of 100 ns */",
        ),
        harmless: Harmless::MeasuredBy(ExperimentId::C2, &["sleep"]),
        compare: Some(|file| {
            let (half, above) = super::super::findings::half_and_above(file).ok()?;
            Some(advice::measured(half, above))
        }),
    },
    RemedyEntry {
        id: "use-precise-system-clock",
        scope: Scope::Os("windows"),
        summary: "Readings differ by fractions of a microsecond instead of by whole ticks.",
        how: "Time with QueryPerformanceCounter; where the time of day is needed, take GetSystemTimePreciseAsFileTime \
              (Windows 8).",
        example: Some(
            "/* C */\n#include <windows.h>\nLARGE_INTEGER ticks, per_second;\nQueryPerformanceFrequency(&per_second);\n\
             QueryPerformanceCounter(&ticks);\nFILETIME now;\nGetSystemTimePreciseAsFileTime(&now);\n\n\
             // Rust\nlet t = std::time::Instant::now();",
        ),
        harmless: Harmless::NotTriedBecause("the clock table shows every clock's step beside its cost"),
        compare: None,
    },
    RemedyEntry {
        id: "wait-for-the-rest",
        scope: Scope::Os("windows"),
        summary: "A wait that ended a tick early is followed by one for what is left.",
        how: "Read QueryPerformanceCounter after the wait and wait again until the deadline has passed.",
        example: Some(
            "// Rust\nwhile let Some(left) = deadline.checked_duration_since(std::time::Instant::now()) {\n    \
             std::thread::sleep(left);\n}",
        ),
        harmless: Harmless::NotTriedBecause(PROGRAM),
        compare: None,
    },
    RemedyEntry {
        id: "set-no-tolerance",
        scope: Scope::Os("windows"),
        summary: "The timer is not put off to fall together with others.",
        how: "Give SetWaitableTimerEx a tolerance of 0, or call SetWaitableTimer, for timers that must be punctual.",
        example: Some("/* C */\nSetWaitableTimerEx(timer, &due, 0, NULL, NULL, NULL, 0 /* ms of tolerance */);"),
        harmless: Harmless::MeasuredBy(ExperimentId::B5, &["waitable-timer-tolerant", "waitable-timer"]),
        compare: Some(|file| {
            let before = advice::wait_named(file, TOLERANT)?;
            let after = advice::wait_like(file, PLAIN, before)?;
            Some(advice::measured(before, after))
        }),
    },
    RemedyEntry {
        id: "release-timer-resolution",
        scope: Scope::Os("windows"),
        summary: "The processor sleeps through whole ticks again while nothing has to be punctual.",
        how: "Hold the request only around the waits that need it; take it back when the program pauses, is minimised or \
              has nothing to play.",
        example: Some("/* C, winmm.lib */\ntimeBeginPeriod(1);\nplay();\ntimeEndPeriod(1);"),
        harmless: Harmless::NotTriedBecause(PROGRAM),
        compare: None,
    },
];
