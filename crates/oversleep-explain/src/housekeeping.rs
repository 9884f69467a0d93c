//! A runtime's housekeeping: timed waits that a language runtime makes for its own purposes. They are kept apart from those
//! of the program, and no conclusion about lateness is drawn from them.
//!
//! Waits are housekeeping only if nothing of the program's own could look the same. A Python program that waits for a lock
//! with a timeout of 5 ms makes the same call as the interpreter, so the interpreter's wait is known by where its lock is.

use oversleep_record::observed::wait::{Request, Wait};
use oversleep_record::observed::{ObservedWaits, SeenRuntime};
use oversleep_record::{Identity, Nanos, ResultFile, Series};

/// A kind of waits that a runtime makes for its own purposes.
#[derive(Debug)]
pub struct Housekeeping {
    /// What they are, in a few words.
    pub what: &'static str,
    /// What they mean for the program's own waits; empty if nothing.
    pub means: &'static str,
    /// The runtime, by its name in results.
    pub runtime: &'static str,
    /// Names of its threads, as the kernel keeps them, in 15 bytes; empty for any thread.
    threads: &'static [&'static str],
    /// The calls, each with how it states its request; empty for any call.
    calls: &'static [(&'static str, Request)],
    /// The requests.
    requests: Requests,
    /// What else has to be known.
    only_if: OnlyIf,
    /// Where that is known from.
    pub source: &'static str,
}

/// Which requests are meant.
#[derive(Debug)]
enum Requests {
    Any,
    /// All of them are at most this, and the longest is this.
    UpTo(i64),
    /// Each is one of these.
    OneOf(&'static [i64]),
}

/// What has to be known beside the waits themselves.
#[derive(Debug, PartialEq, Eq)]
enum OnlyIf {
    Nothing,
    /// Threads were seen to wait for a lock of the runtime's, and for none of the program's.
    WaitsForOwnLock,
    /// The program's own timers end another call of its, as this one's do.
    TimersEnd(&'static [&'static str]),
    /// The thread's own sleeps are another call, and none of them is for the same time.
    ThreadSleepsIn(&'static str),
}

/// Requests differ from what the runtime asks for by so small a part: they are told to two digits.
const WITHIN: u64 = 40;
/// The switch interval of CPython, unless the program sets another.
pub(crate) const SWITCH_INTERVAL_NS: i64 = 5_000_000;
/// Programs that are named after their runtime. Results of earlier versions don't state it.
const NAMED_AFTER: [&str; 2] = ["java", "dotnet"];

const MEASURED_JAVA: &str = "measured: OpenJDK 17.0.15 on Linux 6.18, with each of its collectors";
const DOTNET_NAMES: &str =
    "not measured; thread names of https://github.com/dotnet/runtime (CreateNewThread, SetThreadName)";

const fn of_threads(
    runtime: &'static str,
    what: &'static str,
    threads: &'static [&'static str],
    source: &'static str,
) -> Housekeeping {
    Housekeeping {
        what,
        means: "",
        runtime,
        threads,
        calls: &[],
        requests: Requests::Any,
        only_if: OnlyIf::Nothing,
        source,
    }
}

/// All kinds. Threads that wait for the program's own timers are in none: `.NET Timer`, `VirtualThread-unparker` of Java,
/// the main thread of Node, the schedulers of Erlang.
pub static ALL: &[Housekeeping] = &[
    INTERPRETER,
    RUBY_LOCK,
    Housekeeping {
        what: "Go's sysmon",
        means: "",
        runtime: "go",
        threads: &[],
        calls: &[("nanosleep", Request::Span)],
        requests: Requests::OneOf(&[
            20_000, 40_000, 80_000, 160_000, 320_000, 640_000, 1_280_000, 2_560_000, 5_120_000, 10_000_000,
        ]),
        only_if: OnlyIf::Nothing,
        source: "measured: Go 1.26 on Linux 6.18; https://github.com/golang/go/blob/master/src/runtime/proc.go (sysmon). \
                 The program's own sleeps end in epoll.",
    },
    Housekeeping {
        what: "Go's sysmon while all is idle",
        means: "",
        runtime: "go",
        threads: &[],
        calls: &[("futex", Request::Span)],
        requests: Requests::Any,
        // Before Go 1.14, the program's own timers waited for a futex.
        only_if: OnlyIf::TimersEnd(&["epoll_pwait", "epoll_wait"]),
        source: "measured: Go 1.26 on Linux 6.18; https://github.com/golang/go/blob/master/src/runtime/proc.go (sysmon, \
                 notetsleep)",
    },
    Housekeeping {
        what: "Go's scheduler before it steals work",
        means: "",
        runtime: "go",
        threads: &[],
        calls: &[("nanosleep", Request::Span)],
        requests: Requests::OneOf(&[3_000]),
        only_if: OnlyIf::Nothing,
        source: "measured: Go 1.26 on Linux 6.18; https://github.com/golang/go/blob/master/src/runtime/proc.go (runqgrab)",
    },
    of_threads("java", "the JVM's periodic task thread", &["VM Periodic Tas"], MEASURED_JAVA),
    of_threads("java", "the JVM's monitor deflation", &["Monitor Deflati"], MEASURED_JAVA),
    of_threads("java", "the JVM's VM thread", &["VM Thread"], MEASURED_JAVA),
    of_threads("java", "the JVM's compilers", &["C1 CompilerThre", "C2 CompilerThre"], MEASURED_JAVA),
    of_threads("java", "the JVM's garbage collector G1", &["G1 Service"], MEASURED_JAVA),
    of_threads("java", "the JVM's garbage collector ZGC", &["ZDirector", "ZStat"], MEASURED_JAVA),
    of_threads("java", "the JVM's garbage collector Shenandoah", &["Shenandoah Cont"], MEASURED_JAVA),
    of_threads("java", "the JVM's Flight Recorder", &["JFR Thread Samp", "JFR Periodic Ta"], MEASURED_JAVA),
    of_threads(
        "java",
        "the JDK's cleaner",
        &["Common-Cleaner"],
        "name measured: OpenJDK 17.0.15; its wait of 60 s is documented in jdk.internal.ref.CleanerImpl",
    ),
    of_threads(
        "node",
        "V8's delayed tasks",
        &["DelayedTaskSche"],
        "name measured: Node 24.21, earlier versions don't name the thread; it made no timed wait. \
         https://github.com/nodejs/node/blob/main/src/node_platform.cc (DelayedTaskScheduler)",
    ),
    of_threads("dotnet", ".NET's thread pool gate", &[".NET TP Gate"], DOTNET_NAMES),
    of_threads("dotnet", ".NET's tiered compilation", &[".NET Tiered Com"], DOTNET_NAMES),
    of_threads("dotnet", ".NET's finalizer", &[".NET Finalizer"], DOTNET_NAMES),
    of_threads("dotnet", ".NET's synchronization manager", &[".NET SynchManag"], DOTNET_NAMES),
    of_threads("dotnet", ".NET's garbage collector", &[".NET BGC", ".NET Server GC"], DOTNET_NAMES),
];

/// Waits of threads for the interpreter, which another one of them has.
pub(crate) const INTERPRETER: Housekeeping = Housekeeping {
    what: "the interpreter's switch interval",
    means: "While one thread computes, a sleep of another ends in time and returns to Python up to 5 ms later (OVS-Y031).",
    runtime: "python",
    threads: &[],
    calls: &[("futex", Request::Deadline)],
    requests: Requests::UpTo(SWITCH_INTERVAL_NS),
    only_if: OnlyIf::WaitsForOwnLock,
    source: "measured: CPython 3.11 on Linux 6.18; https://docs.python.org/3/library/sys.html#sys.setswitchinterval",
};

/// Waits of Ruby for its interpreter, whose threads change places less often.
pub(crate) const RUBY_LOCK: Housekeeping = Housekeeping {
    what: "Ruby's waits for its interpreter (100 ms each)",
    means: "While one thread computes, a sleep of another ends in time and returns to Ruby up to 100 ms later (OVS-Y031).",
    runtime: "ruby",
    threads: &[],
    calls: &[("futex", Request::Deadline)],
    requests: Requests::UpTo(RUBY_QUANTUM_NS),
    only_if: OnlyIf::ThreadSleepsIn("ppoll"),
    source: "measured: Ruby 3.1 on Linux 6.18; https://github.com/ruby/ruby/blob/v3_1_2/thread_pthread.c (do_gvl_timer, \
             TIME_QUANTUM_MSEC)",
};
/// A thread of Ruby computes for so long until another one has its turn.
pub(crate) const RUBY_QUANTUM_NS: i64 = 100_000_000;

impl Housekeeping {
    /// Whether waits of a runtime are of this kind, as far as they and its name tell.
    fn is_of(&self, identity: &Identity, waits: &ObservedWaits) -> bool {
        let is_thread = self.threads.is_empty() || self.threads.contains(&&*identity.thread);
        let is_call = self.calls.is_empty() || self.calls.contains(&(&*identity.call, identity.request));
        is_thread && is_call && identity.timer.is_none() && self.requests.are(identity, waits)
    }
}

/// Whether a request is what the runtime asks for.
fn is_near(span: Nanos, meant: i64) -> bool {
    span.0.abs_diff(meant) <= meant.unsigned_abs() / WITHIN
}

impl Requests {
    fn are(&self, identity: &Identity, waits: &ObservedWaits) -> bool {
        let range = waits.requested_ns.or(identity.requested_ns.map(|span| [span; 2]));
        match (self, range) {
            (Requests::Any, _) => true,
            (_, None) => false,
            (Requests::UpTo(most), Some([_, to])) => is_near(to, *most),
            (Requests::OneOf(steps), Some(both)) => {
                steps.iter().any(|step| both.iter().all(|span| is_near(*span, *step)))
            }
        }
    }
}

/// What kind of housekeeping waits of an observed program are; `None` if they are the program's own, or might be.
pub fn of(file: &ResultFile, series: &Series) -> Option<&'static Housekeeping> {
    let (identity, waits) = (Identity::of(series)?, series.observed.as_ref()?);
    let seen = waits.runtime.clone().or_else(|| by_name(&identity.program))?;
    let timers_end = |calls: &[&str]| {
        let of_program = file.series.iter().filter_map(Identity::of).filter(|other| other.program == identity.program);
        of_program.into_iter().any(|other| calls.contains(&&*other.call) && other.requested_ns.is_some())
    };
    let sleeps_in = |call: &str| {
        let of_thread = file.series.iter().filter_map(Identity::of).filter(|other| {
            (&other.program, &other.thread, &*other.call) == (&identity.program, &identity.thread, call)
        });
        let requests: Vec<Nanos> = of_thread.filter_map(|other| other.requested_ns).collect();
        let is_same = |ns: &Nanos| identity.requested_ns.is_some_and(|own| is_near(*ns, own.0));
        !requests.is_empty() && !requests.iter().any(is_same)
    };
    let is_met = |only_if: &OnlyIf| match only_if {
        OnlyIf::Nothing => true,
        OnlyIf::WaitsForOwnLock => seen.waits_for_own_lock,
        OnlyIf::TimersEnd(calls) => timers_end(calls),
        OnlyIf::ThreadSleepsIn(call) => sleeps_in(call),
    };
    ALL.iter().find(|one| one.runtime == seen.name && one.is_of(&identity, waits) && is_met(&one.only_if))
}

/// The housekeeping that one of the worst waits is.
pub fn of_wait(file: &ResultFile, wait: &Wait) -> Option<&'static Housekeeping> {
    let is_of = |series: &&Series| {
        Identity::of(series).is_some_and(|identity| {
            let is_near = |requested: Nanos, ns: u64| requested.0.unsigned_abs().abs_diff(ns) <= ns / 4;
            let is_same_call = wait.call.as_ref() == Some(&identity.call) && wait.request == identity.request;
            is_same_call
                && wait.thread == identity.thread
                && identity.requested_ns.zip(wait.requested_ns).is_some_and(|(span, ns)| is_near(span, ns))
        })
    };
    let mut kinds = file.series.iter().filter(is_of).map(|series| of(file, series));
    let first = kinds.next()??;
    // Where another kind might be meant, it is the program's.
    kinds.all(|other| other.is_some()).then_some(first)
}

/// The runtime of a program that is named after it.
fn by_name(program: &str) -> Option<SeenRuntime> {
    let is_named = NAMED_AFTER.contains(&program);
    is_named.then(|| SeenRuntime { name: program.to_owned(), waits_for_own_lock: false })
}

#[cfg(test)]
mod tests {
    use oversleep_record::part::Parts;
    use oversleep_record::testing::Sheet;

    use super::*;
    use crate::observed::testing::waits;

    /// A call of a program with that runtime, for so many microseconds.
    fn call(runtime: &str, thread: &str, call: &str, request: Request, requested_us: i64) -> Series {
        let made = waits(1, 12, Parts::default());
        let (program, call) = ("app".to_owned(), call.to_owned());
        let requested_ns = Some(Nanos(requested_us * 1_000));
        let identity = Identity { program, thread: thread.to_owned(), call, timer: None, request, requested_ns };
        let os = oversleep_record::environment::Os::Linux;
        let mut series = Series { why: made.why, ..Series::observed(&identity, os, made.distribution) };
        let seen = SeenRuntime { name: runtime.to_owned(), waits_for_own_lock: true };
        series.observed.as_mut().unwrap().runtime = Some(seen);
        series
    }

    fn what(series: Series) -> Option<&'static str> {
        beside(series, &[])
    }

    fn beside(series: Series, others: &[Series]) -> Option<&'static str> {
        let mut file = Sheet::linux().file;
        file.series = others.to_vec();
        of(&file, &series).map(|one| one.what)
    }

    #[test]
    fn only_the_interpreters_own_lock_tells_its_switch_interval() {
        let of = |name: &str, request, requested_us| call("python", "app", name, request, requested_us);
        let futex = || of("futex", Request::Deadline, 5_000);
        assert_eq!(what(futex()), Some("the interpreter's switch interval"));
        let mut wide = futex();
        wide.observed.as_mut().unwrap().requested_ns = Some([Nanos(3_800_000), Nanos(4_999_000)]);
        assert_eq!(
            what(wide),
            Some("the interpreter's switch interval"),
            "a thread was delayed on the way into the call"
        );
        let mut of_program = futex();
        of_program.observed.as_mut().unwrap().runtime.as_mut().unwrap().waits_for_own_lock = false;
        assert_eq!(what(of_program), None, "a lock's own timeout");
        let others = [
            of("futex", Request::Deadline, 2_000),
            of("futex", Request::Deadline, 5_900),
            of("futex", Request::Span, 5_000),
            of("nanosleep", Request::Span, 5_000),
            of("clock_nanosleep", Request::Deadline, 5_000),
            call("ruby", "app", "futex", Request::Deadline, 5_000),
        ];
        assert_eq!(others.map(what), [None; 6]);
    }

    #[test]
    fn rubys_waits_for_its_interpreter_are_known_beside_the_sleeps_of_the_thread() {
        let of = |name: &str, request, requested_ms: i64| call("ruby", "app", name, request, requested_ms * 1_000);
        let futex = || of("futex", Request::Deadline, 100);
        let beside_sleeps_of = |ms| beside(futex(), &[of("ppoll", Request::Span, ms)]);
        assert_eq!(beside_sleeps_of(10), Some("Ruby's waits for its interpreter (100 ms each)"));
        assert_eq!([beside_sleeps_of(100), what(futex())], [None; 2], "it may be the thread's own sleep");
        assert_eq!(beside(of("futex", Request::Deadline, 50), &[of("ppoll", Request::Span, 10)]), None);
    }

    #[test]
    fn gos_monitor_and_scheduler_are_known_by_call_and_request() {
        let of = |name: &str, requested_us| call("go", "app", name, Request::Span, requested_us);
        for step in [20, 40, 320, 1_300, 2_600, 5_100, 10_000] {
            assert_eq!(what(of("nanosleep", step)), Some("Go's sysmon"), "{step}");
        }
        assert_eq!(what(of("nanosleep", 3)), Some("Go's scheduler before it steals work"));
        assert_eq!([1_000, 100, 30].map(|us| what(of("nanosleep", us))), [None; 3], "the program's own call");
        let mut wide = of("nanosleep", 10_000);
        wide.observed.as_mut().unwrap().requested_ns = Some([Nanos(9_300_000), Nanos(10_000_000)]);
        assert_eq!(what(wide), None);
        let timer = of("epoll_pwait", 1_000);
        assert_eq!(what(timer.clone()), None);
        assert_eq!(beside(of("futex", 610), &[timer]), Some("Go's sysmon while all is idle"));
        assert_eq!(what(of("futex", 610)), None, "before Go 1.14, that is the program's sleep");
        assert_eq!(what(call("java", "app", "nanosleep", Request::Span, 20)), None);
    }

    #[test]
    fn threads_of_a_runtime_are_known_by_their_names() {
        let of = |runtime: &str, thread: &str| what(call(runtime, thread, "futex", Request::Deadline, 50_000));
        assert_eq!(of("java", "VM Periodic Tas"), Some("the JVM's periodic task thread"));
        assert_eq!(of("java", "G1 Service"), Some("the JVM's garbage collector G1"));
        assert_eq!(of("node", "DelayedTaskSche"), Some("V8's delayed tasks"));
        assert_eq!(of("dotnet", ".NET TP Gate"), Some(".NET's thread pool gate"));
        let own = [("java", "pool-1-thread-1"), ("java", "app"), ("node", "MainThread"), ("dotnet", ".NET Timer")];
        assert_eq!(own.map(|(runtime, thread)| of(runtime, thread)), [None; 4]);
        assert_eq!(of("go", "VM Periodic Tas"), None, "not a JVM");
    }

    #[test]
    fn a_program_that_is_named_after_its_runtime_needs_no_other_evidence() {
        let of = |program: &str| {
            let mut series = call("", "VM Thread", "futex", Request::Deadline, 1_000_000);
            series.observed.as_mut().unwrap().runtime = None;
            series.labels.set(oversleep_record::label::PROGRAM, program.to_owned());
            what(series)
        };
        assert_eq!([of("java"), of("app")], [Some("the JVM's VM thread"), None]);
    }

    #[test]
    fn names_of_threads_are_as_the_kernel_cuts_them() {
        for one in ALL {
            assert!(one.threads.iter().all(|name| name.len() <= 15) && !one.source.is_empty(), "{one:?}");
            assert!(!one.threads.is_empty() || !one.calls.is_empty(), "{one:?}");
        }
    }
}
