//! Remedies that a program applies on macOS.

use oversleep_record::conditions::Setting;
use oversleep_record::{Conditions, Os};

use crate::entry::{RemedyEntry, Scope, Trial};
use crate::names::{MACOS_EXACT, MACOS_SLEEPS, tunable};
use crate::read;

pub(crate) static TIME_CONSTRAINT_POLICY: RemedyEntry = RemedyEntry {
    id: "time-constraint-policy",
    scope: Scope::Os(Os::Macos),
    summary: "The thread's timers are not coalesced, and the thread runs as soon as they fire.",
    how: "Give the thread that must be on time a time-constraint policy, and keep its work within the computation that the \
          policy states. It takes no privilege.",
    example: Some(
        "/* C */\n#include <mach/mach.h>\n#include <mach/mach_time.h>\n#include <pthread.h>\n\
         mach_timebase_info_data_t base;\nmach_timebase_info(&base);\n\
         uint32_t ms = 1000000ull * base.denom / base.numer; /* mach units in a millisecond */\n\
         thread_time_constraint_policy_data_t p = { 5 * ms, 1 * ms, 2 * ms, TRUE };\n\
         thread_policy_set(pthread_mach_thread_np(pthread_self()), THREAD_TIME_CONSTRAINT_POLICY,\n                  \
         (thread_policy_t)&p, THREAD_TIME_CONSTRAINT_POLICY_COUNT);",
    ),
    trial: Trial::Here {
        conditions: || {
            let policy = Setting::Policy { policy: "time-constraint".into(), priority: 0 };
            Conditions::as_found().with(tunable::POLICY, policy)
        },
        waits: &[MACOS_SLEEPS],
        is_worth_it: |_| true,
    },
};

pub(crate) static STRICT_TIMER: RemedyEntry = RemedyEntry {
    id: "strict-timer",
    scope: Scope::Os(Os::Macos),
    summary: "One timer is exempt from coalescing; the thread keeps its class.",
    how: "Create the dispatch source with DISPATCH_TIMER_STRICT and a leeway of 0, or the kevent timer with NOTE_CRITICAL.",
    example: Some(
        "/* C */\n#include <dispatch/dispatch.h>\n\
         dispatch_source_t timer = dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, DISPATCH_TIMER_STRICT, queue);\n\
         dispatch_source_set_timer(timer, dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC), NSEC_PER_MSEC, 0);",
    ),
    trial: Trial::beside(MACOS_EXACT, |file| MACOS_EXACT.iter().find_map(|timer| read::sleep_and(file, timer))),
};
