//! Remedies that a program applies on Windows.

use oversleep_record::conditions::Setting;
use oversleep_record::{Conditions, ExperimentId, Nanos, Os};

use super::CHANGES_CODE;
use crate::entry::{RemedyEntry, Scope, Trial};
use crate::names::{HIGH_RESOLUTION_TIMER, TOLERANT_TIMER, WAITABLE_TIMER, WINDOWS_SLEEPS, tunable};
use crate::read::{self, windows::half_and_above};

pub(crate) static REQUEST_TIMER_RESOLUTION: RemedyEntry = RemedyEntry {
    id: "request-timer-resolution",
    scope: Scope::Os(Os::Windows),
    summary: "The process's waits end on a tick of 1 ms instead of 15.6 ms.",
    how: "Request a timer resolution of 1 ms in the process that waits, and release it as soon as waits need not end \
          on time. It costs power while it is held.",
    example: Some(
        "/* C, winmm.lib */\n#include <windows.h>\n#include <timeapi.h>\ntimeBeginPeriod(1);\n/* … */\n\
         timeEndPeriod(1);\n\n# command, before Windows 10 2004: there a request reaches other programs\n\
         oversleep resolution hold 1ms -- app.exe",
    ),
    trial: Trial::Here {
        conditions: || Conditions::as_found().with(tunable::RESOLUTION, Setting::Nanos(Nanos::from_millis(1))),
        waits: &[WINDOWS_SLEEPS],
        // What Wine grants says nothing about Windows.
        is_worth_it: |file| read::wine_version(file).is_none(),
    },
};

pub(crate) static USE_HIGH_RESOLUTION_TIMER: RemedyEntry = RemedyEntry {
    id: "use-high-resolution-timer",
    scope: Scope::OsWhere(Os::Windows, read::may_have_high_resolution_timers),
    summary: "Unless the machine is busy, the wait usually ends 0.5 to 1 ms late whatever the tick is, and no process has \
              to request a timer resolution.",
    how: "Wait on a waitable timer created with CREATE_WAITABLE_TIMER_HIGH_RESOLUTION (Windows 10 1803). \
          std::thread::sleep uses one since Rust 1.75.",
    example: Some(
        "/* C */\n#include <windows.h>\n\
         HANDLE timer = CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, TIMER_ALL_ACCESS);\n\
         LARGE_INTEGER due = { .QuadPart = -10000 }; /* 1 ms from now, in units of 100 ns */\n\
         SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE);\nWaitForSingleObject(timer, INFINITE);",
    ),
    trial: Trial::beside(&[HIGH_RESOLUTION_TIMER], |file| read::sleep_and(file, HIGH_RESOLUTION_TIMER)),
};

pub(crate) static KEEP_RESOLUTION_WHILE_HIDDEN: RemedyEntry = RemedyEntry {
    id: "keep-resolution-while-hidden",
    scope: Scope::Os(Os::Windows),
    summary: "The request stays in force while the process's windows are hidden.",
    how: "Opt out of the timer throttling of hidden processes with SetProcessInformation, or wait on a high-resolution \
          timer, which needs no request.",
    example: Some(
        "/* C */\n#include <windows.h>\nPROCESS_POWER_THROTTLING_STATE state = {\n    \
         .Version = PROCESS_POWER_THROTTLING_CURRENT_VERSION,\n    \
         .ControlMask = PROCESS_POWER_THROTTLING_IGNORE_TIMER_RESOLUTION,\n    \
         .StateMask = 0, /* do not ignore it */\n};\n\
         SetProcessInformation(GetCurrentProcess(), ProcessPowerThrottling, &state, sizeof state);",
    ),
    trial: Trial::Never("it matters only to a process whose window is hidden"),
};

pub(crate) static REQUEST_JUST_ABOVE_HALF: RemedyEntry = RemedyEntry {
    id: "request-just-above-half",
    scope: Scope::Os(Os::Windows),
    summary: "A wait of 1 ms takes two ticks of 0.507 ms instead of three of 0.5 ms.",
    how: "Request 0.507 ms (5,070 units of 100 ns) rather than 0.5 ms, and measure it: the best value depends on the \
          timer's hardware.",
    example: Some(
        "/* C, ntdll.dll */\nULONG granted;\nNtSetTimerResolution(5070, TRUE, &granted); /* in units of 100 ns */",
    ),
    trial: Trial::ByExperiment {
        experiment: ExperimentId::C2,
        waits: WINDOWS_SLEEPS,
        compare: |file| half_and_above(file).ok(),
    },
};

pub(crate) static USE_PRECISE_SYSTEM_CLOCK: RemedyEntry = RemedyEntry {
    id: "use-precise-system-clock",
    scope: Scope::Os(Os::Windows),
    summary: "Readings differ by fractions of a microsecond instead of whole ticks.",
    how: "Measure durations with QueryPerformanceCounter. For the time of day, call GetSystemTimePreciseAsFileTime \
          (Windows 8).",
    example: Some(
        "/* C */\n#include <windows.h>\nLARGE_INTEGER ticks, per_second;\nQueryPerformanceFrequency(&per_second);\n\
         QueryPerformanceCounter(&ticks);\nFILETIME now; GetSystemTimePreciseAsFileTime(&now);\n\n\
         // Rust\nlet t = std::time::Instant::now();",
    ),
    trial: Trial::Never("the clock table shows each clock's step next to its cost"),
};

pub(crate) static WAIT_FOR_THE_REST: RemedyEntry = RemedyEntry {
    id: "wait-for-the-rest",
    scope: Scope::Os(Os::Windows),
    summary: "A wait that ended a tick early is followed by a wait for the rest.",
    how: "Read QueryPerformanceCounter after the wait, and wait again until the deadline has passed.",
    example: Some(
        "// Rust\nwhile let Some(left) = deadline.checked_duration_since(std::time::Instant::now()) {\n    \
         std::thread::sleep(left);\n}",
    ),
    trial: Trial::Never(CHANGES_CODE),
};

pub(crate) static SET_NO_TOLERANCE: RemedyEntry = RemedyEntry {
    id: "set-no-tolerance",
    scope: Scope::Os(Os::Windows),
    summary: "The system does not delay the timer to expire it together with others.",
    how: "For timers that must be on time, pass SetWaitableTimerEx a tolerance of 0, or call SetWaitableTimer.",
    example: Some("/* C */\nSetWaitableTimerEx(timer, &due, 0, NULL, NULL, NULL, 0 /* ms of tolerance */);"),
    trial: Trial::beside(&[TOLERANT_TIMER, WAITABLE_TIMER], |file| {
        read::two_waits(file, TOLERANT_TIMER, WAITABLE_TIMER)
    }),
};

pub(crate) static RELEASE_TIMER_RESOLUTION: RemedyEntry = RemedyEntry {
    id: "release-timer-resolution",
    scope: Scope::Os(Os::Windows),
    summary: "The processor sleeps through whole ticks again while nothing has to be on time.",
    how: "Hold the request only around the waits that need it. Release it when the program pauses, is minimised or has \
          nothing to play.",
    example: Some("/* C, winmm.lib */\ntimeBeginPeriod(1);\nplay();\ntimeEndPeriod(1);"),
    trial: Trial::Never(CHANGES_CODE),
};
