//! Remedies a program applies on macOS.

use oversleep_record::conditions::Setting;
use oversleep_record::{Conditions, ExperimentId};

use super::super::advice;
use super::super::entry::Scope;
use super::{Harmless, RemedyEntry};

fn time_constraint() -> Conditions {
    Conditions::as_found().with("policy", Setting::Policy { policy: "time-constraint".into(), priority: 0 })
}

/// Timers that are exempt from coalescing.
pub(in super::super) const STRICT: [&str; 2] = ["dispatch-source-strict", "kevent-timer-critical"];

pub(super) const REMEDIES: &[RemedyEntry] = &[
    RemedyEntry {
        id: "time-constraint-policy",
        scope: Scope::Os("macos"),
        summary: "The thread's timers are not coalesced, and it runs as soon as they fire.",
        how: "Give the thread that must be on time a time-constraint policy, and keep its work within the computation it \
              names; it takes no privilege.",
        example: Some(
            "/* C */\n#include <mach/mach.h>\n#include <mach/mach_time.h>\n#include <pthread.h>\n\
             mach_timebase_info_data_t base;\nmach_timebase_info(&base);\n\
             uint32_t ms = 1000000ull * base.denom / base.numer; /* mach units in a millisecond */\n\
             thread_time_constraint_policy_data_t p = { 5 * ms, 1 * ms, 2 * ms, TRUE };\n\
             thread_policy_set(pthread_mach_thread_np(pthread_self()), THREAD_TIME_CONSTRAINT_POLICY,\n                  \
             (thread_policy_t)&p, THREAD_TIME_CONSTRAINT_POLICY_COUNT);",
        ),
        harmless: Harmless::TryHere(time_constraint),
        compare: None,
    },
    RemedyEntry {
        id: "strict-timer",
        scope: Scope::Os("macos"),
        summary: "One timer is exempt from coalescing; the thread keeps its class.",
        how: "Make the dispatch source with DISPATCH_TIMER_STRICT and a leeway of 0, or the kevent timer with \
              NOTE_CRITICAL.",
        example: Some(
            "/* C */\n#include <dispatch/dispatch.h>\n\
             dispatch_source_t timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, DISPATCH_TIMER_STRICT, queue);\n\
             dispatch_source_set_timer(timer, dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC), NSEC_PER_MSEC, 0);",
        ),
        harmless: Harmless::MeasuredBy(ExperimentId::B5, &["dispatch-source-strict", "kevent-timer-critical"]),
        compare: Some(|file| {
            let before = advice::plain_sleep(file)?;
            let after = STRICT.iter().find_map(|wait| advice::wait_like(file, wait, before))?;
            Some(advice::measured(before, after))
        }),
    },
];
