//! Waits of an observed program in which every field is filled and every variant occurs.

use oversleep_record::Identity;
use oversleep_record::environment::Os;
use oversleep_record::observed::culprit::{Activity, ActivityKind, Culprit, IrqCause, Span, Whose, Why};
use oversleep_record::observed::group::{Autogroup, GroupQuota, GroupSetting, GroupWeight};
use oversleep_record::observed::interruption::{Interrupted, Interruption, Sender};
use oversleep_record::observed::period::{Block, Periods};
use oversleep_record::observed::stack::Stack;
use oversleep_record::observed::wait::{Marks, Outcome, Request, TimerClock, Wait};
use oversleep_record::observed::wakes::{IdleWakes, Rhythm, Wakes, WokenBy};
use oversleep_record::observed::{Blame, By, IrqBlame, Losses, Named, Observation, ObservedWaits, SeenRuntime};
use oversleep_record::part::{Part, Parts, Segment};
use oversleep_record::split::PartSplit;
use oversleep_record::{Distribution, Nanos, Series};

const OUTCOMES: [Outcome; 4] = [Outcome::Timer, Outcome::Event, Outcome::Signal, Outcome::Unknown];
const REASONS: [Why; 4] = [Why::HigherPolicy, Why::HigherPriority, Why::TurnNotOver, Why::NotYetPreempted];
const T: u64 = 5_000_000_000;

fn causes() -> [IrqCause; 5] {
    [
        IrqCause::Interrupt { number: 24, name: "virtio0".to_owned(), ran_ns: 9 },
        IrqCause::Softirq { name: "NET_RX".to_owned(), ran_ns: 9 },
        IrqCause::Idle { state: 1 },
        IrqCause::Task { tid: 8, name: "hog".to_owned() },
        IrqCause::Steal,
    ]
}

fn of(values: &[i64]) -> Distribution {
    let mut distribution = Distribution::growing();
    values.iter().for_each(|&value| distribution.record(value));
    distribution
}

/// A series for each kind of request.
pub fn series() -> Vec<Series> {
    Request::ALL
        .into_iter()
        .enumerate()
        .map(|(n, request)| of_request(n as u64, request))
        .chain([of_wake_ups()])
        .collect()
}

/// What a recording without calls has.
fn of_wake_ups() -> Series {
    let [program, thread, call] = ["app", "audio", "wake-up"].map(str::to_owned);
    let identity = Identity { program, thread, call, timer: None, request: Request::Unknown, requested_ns: None };
    Series::observed(&identity, Os::Linux, of(&[3_000, 40_000]))
}

fn of_request(n: u64, request: Request) -> Series {
    let identity = Identity {
        program: "app".to_owned(),
        thread: "worker=1".to_owned(),
        call: "epoll_wait".to_owned(),
        timer: (request == Request::Timer).then(|| "timerfd_settime".to_owned()),
        request,
        requested_ns: (request != Request::Unknown).then_some(Nanos(1_000_000)),
    };
    let mut split = PartSplit::default();
    // A timer may expire before the program's deadline.
    split.record(&Parts { api: -5, slack: 50_000, ..Parts::default() });
    split.record(&Parts { runq: 3_000_000, unattributed: 7, ..Parts::default() });
    let mut series = Series::observed(&identity, Os::Linux, of(&[49_995, 3_000_007]));
    series.why = Some(split);
    series.observed = Some(ObservedWaits {
        tgid: 7,
        requested_ns: Some([Nanos(900_000), Nanos(1_100_000)]),
        clock: Some(TimerClock::Realtime),
        otherwise: OUTCOMES.into_iter().map(|outcome| (outcome, n + 1)).collect(),
        called_late: of(&[20_000]),
        late_after_late_count: 1,
        blames: REASONS.into_iter().map(blame).collect(),
        irq_blames: causes().map(|cause| IrqBlame { cause, count: 1, total_ns: 9, max_ns: 9 }).to_vec(),
        interruptions: interruptions(),
        policy: Some((0, 120)),
        cpus_allowed: Some(2),
        slack_bound_ns: Some(50_000),
        steal_count: 1,
        periods: Some(periods()),
        runtime: Some(runtime()),
    });
    series
}

/// A loop in which everything holds the thread up.
fn periods() -> Periods {
    let mut split = PartSplit::apart("");
    let work = Parts { requested: 5_000_000, late: 60_000, work: 35_000_000, fault: 9_000, ..Parts::default() };
    split.record(&Parts { blocked: 1_000_000, runq: 2_000_000, quota: 3_000_000, ..work });
    let block = Block {
        call: "futex".to_owned(),
        woken_by: "writer".to_owned(),
        count: 1,
        total_ns: 1_000_000,
        max_ns: 1_000_000,
    };
    Periods {
        split,
        intended_ns: Some(Nanos(10_000_000)),
        missed_count: 3,
        fault_count: 9,
        requests_changed_count: 40,
        requests_follow_count: 38,
        blames: vec![blame(Why::TurnNotOver)],
        blocks: vec![block],
    }
}

fn runtime() -> SeenRuntime {
    SeenRuntime { name: "python".to_owned(), waits_for_own_lock: true }
}

/// Every interruption.
fn interruptions() -> Vec<Interrupted> {
    let by_timer = Sender::OwnTimer { call: "setitimer".to_owned() };
    let senders = [Sender::Process { pid: 77, name: "sampler".to_owned() }, by_timer, Sender::Kernel];
    let signals = senders.map(|sender| Interruption::Signal { number: 14, sender });
    let stops = [Interruption::Stopped, Interruption::Traced, Interruption::Frozen];
    signals.into_iter().chain(stops).map(|by| Interrupted { by, count: 3 }).collect()
}

fn blame(why: Why) -> Blame {
    let name = "burst".to_owned();
    Blame {
        name,
        tgid: 8,
        tid: 9,
        policy: 1,
        prio: 49,
        why,
        is_pinned: true,
        whose: if why == Why::TurnNotOver { Whose::Own } else { Whose::Kernel },
        count: 1,
        total_ns: 3_000_000,
        max_ns: 3_000_000,
    }
}

fn weight(setting: GroupSetting) -> GroupWeight {
    let (group, folder) = ("/system.slice".to_owned(), "/sys/fs/cgroup/system.slice".to_owned());
    GroupWeight { group, folder, setting, value: 1 }
}

/// Each kind of what wakes, and a rhythm.
fn wakes() -> Wakes {
    let row = |by, timer: Option<&str>| IdleWakes {
        program: "app".to_owned(),
        tgid: 7,
        by,
        timer: timer.map(str::to_owned),
        count: 20,
    };
    Wakes {
        span_ns: Nanos(2_000_000_000),
        idle: vec![row(WokenBy::Timer, Some("hrtimer_wakeup")), row(WokenBy::Other, None), row(WokenBy::Unseen, None)],
        idle_beyond: 3,
        rhythms: vec![Rhythm {
            program: "app".to_owned(),
            thread: "audio".to_owned(),
            tid: 8,
            count: 199,
            p10_ns: Nanos(9_900_000),
            p50_ns: Nanos(10_000_000),
            p90_ns: Nanos(10_200_000),
        }],
    }
}

/// What belongs to no series.
pub fn observation() -> Observation {
    Observation {
        by: By::Supervisor,
        recorder: Some("perf 6.1".to_owned()),
        target: "./app".to_owned(),
        processes: vec![Named {
            tgid: 7,
            name: "app".to_owned(),
            cgroup: Some("/system.slice/app.service".to_owned()),
            weights: [GroupSetting::CpuWeight, GroupSetting::CpuShares, GroupSetting::CpuIdle].map(weight).to_vec(),
            quota: Some(GroupQuota {
                group: "/system.slice".to_owned(),
                file: "/sys/fs/cgroup/system.slice/cpu.max".to_owned(),
                quota_ns: Nanos(60_000_000),
                period_ns: Nanos(100_000_000),
            }),
            autogroup: Some(Autogroup { id: 40, nice: -5 }),
            freezer: Some("/docker/app".to_owned()),
            runtime: Some(runtime()),
        }],
        neighbours: vec![Named { tgid: 8, name: "hog".to_owned(), ..Named::default() }],
        want_ns: Some(Nanos(1_000_000)),
        left_out: 3,
        worst: Request::ALL.into_iter().zip(OUTCOMES).zip(causes()).map(wait).collect(),
        losses: Losses {
            no_room: 1,
            vanished: 2,
            not_run: 3,
            threads_not_followed: 4,
            unfinished: 5,
            missing: vec!["timeouts of sockets (no tracepoint timer_start)".to_owned()],
            is_truncated: true,
        },
        unseen: vec![Part::Irq, Part::User],
        lacks_processes: true,
        resolution_ns: Some(Nanos(1_000)),
        wakes: Some(wakes()),
    }
}

fn wait(((request, outcome), cause): ((Request, Outcome), IrqCause)) -> Wait {
    let mut parts = Parts::default();
    Part::ALL.iter().for_each(|&part| *parts.get_mut(part) = 1_000);
    parts.api = -5;
    let activity = |what| Activity { what, name: "1".to_owned(), span: Span { from_ns: T, to_ns: T + 1 } };
    let culprit = |why| Culprit {
        tid: 9,
        tgid: 9,
        name: "burst".to_owned(),
        policy: 1,
        prio: 49,
        ran_ns: 1_000,
        why,
        is_pinned: true,
        process: Some("daemon".to_owned()),
        whose: Whose::Collector,
        turns: vec![Span { from_ns: T, to_ns: T + 1_000 }],
    };
    let t = Some(T);
    Wait {
        tgid: 7,
        tid: 8,
        thread: "worker=1".to_owned(),
        call: Some("epoll_wait".to_owned()),
        timer: Some("timerfd_settime".to_owned()),
        request,
        requested_ns: Some(1_000_000),
        clock: Some(TimerClock::Boottime),
        deadline: T,
        called_late_ns: 4,
        late_before_ns: Some(5),
        end: T + parts.sum().unsigned_abs(),
        lateness_ns: parts.sum(),
        outcome,
        parts,
        segments: Part::ALL.iter().map(|&part| Segment { part, from_ns: 1, to_ns: 2 }).collect(),
        marks: Marks {
            entered: t,
            soft: t,
            hard: t,
            rearmed: t,
            interrupt: t,
            fired: t,
            waking: t,
            wakeup: t,
            running: t,
            returned: t,
        },
        slack_bound_ns: Some(50_000),
        timer_cpu: Some(0),
        timer_cpu_idle: Some(1),
        cpu: Some(1),
        cpu_idle: Some(2),
        policy: Some(0),
        prio: Some(120),
        cpus_allowed: Some(2),
        culprits: REASONS.map(culprit).to_vec(),
        irq_cause: Some(cause),
        before_interrupt: [ActivityKind::Interrupt, ActivityKind::Softirq, ActivityKind::Idle].map(activity).to_vec(),
        steal_ns: 3,
        lost_events: 2,
        restarts: 1,
        interruptions: interruptions(),
        stack: Stack {
            kernel: vec!["schedule+0x1f".to_owned(), "do_nanosleep+0x66".to_owned()],
            user: vec!["clock_nanosleep+0x5a (libc.so.6)".to_owned(), "main+0x20 (app)".to_owned()],
        },
        before: None,
        woken_by: String::new(),
        timer_period: None,
        frames: Default::default(),
    }
}
