//! Streams of events with exact times, and what becomes of each nanosecond.

use oversleep_record::observed::culprit::{IrqCause, Whose, Why};
use oversleep_why::calls::Arch;
use oversleep_why::wait::Request;
use oversleep_why::{Kind, Machine, Outcome, Part, Wait};

use crate::stream::{self, CLOCK_NANOSLEEP, D, EPOLL_WAIT, Stream};

pub fn waits(stream: &Stream) -> Vec<Wait> {
    let mut machine = Machine::new(Arch::X86_64);
    stream.events.iter().for_each(|event| machine.feed(event));
    machine.finish();
    machine.take()
}

pub fn only(stream: &Stream) -> Wait {
    let mut waits = waits(stream);
    assert_eq!(waits.len(), 1, "{waits:#?}");
    let wait = waits.remove(0);
    assert_eq!(wait.parts.sum(), wait.lateness_ns, "{wait:#?}");
    wait
}

/// The parts that are not 0.
fn parts(wait: &Wait) -> Vec<(Part, i64)> {
    wait.parts.iter().filter(|(_, ns)| *ns != 0).collect()
}

#[test]
fn every_step_of_a_plain_wait_has_its_part() {
    let wait = only(&Stream::plain());
    assert_eq!(wait.outcome, Outcome::Timer);
    assert_eq!(
        (wait.requested_ns, wait.request, wait.call.as_deref()),
        (Some(1_000_000), Request::Span, Some("clock_nanosleep"))
    );
    assert_eq!(
        parts(&wait),
        [
            (Part::Api, 300),
            (Part::Slack, 50_000),
            (Part::Irq, 2_000),
            (Part::Irqbody, 700),
            (Part::Wake, 400),
            (Part::Ipi, 600),
            (Part::Runq, 3_000),
            (Part::Ret, 1_000)
        ]
    );
    assert_eq!(wait.lateness_ns, 58_000);
    assert!(wait.is_attributed());
}

#[test]
fn a_timer_that_shares_an_early_interrupt_has_less_slack_and_no_late_interrupt() {
    let mut stream = Stream::plain();
    stream.find(Kind::Fire).fields[0] = D + 10_300;
    let wait = only(&stream);
    assert_eq!((wait.parts.slack, wait.parts.irq, wait.parts.irqbody), (10_000, 0, 42_700));
}

#[test]
fn an_interrupt_of_long_ago_is_not_the_timers() {
    let mut stream = Stream::plain();
    stream.find(Kind::Fire).fields[0] = D - 5_000_000;
    let wait = only(&stream);
    assert_eq!((wait.parts.slack, wait.parts.irq, wait.parts.irqbody), (50_000, 2_700, 0));
}

#[test]
fn what_was_lost_is_unattributed_and_everything_else_keeps_its_part() {
    for (lost, before, part) in [
        (Kind::Waking, Part::Wake, Part::Ipi),
        (Kind::Wakeup, Part::Ipi, Part::Runq),
        (Kind::In, Part::Runq, Part::Ret),
    ] {
        let mut stream = Stream::plain();
        stream.lose(lost);
        let (whole, wait) = (only(&Stream::plain()), only(&stream));
        assert_eq!(wait.lost_events, 1, "{lost:?}");
        assert_eq!(wait.parts.get(before) + wait.parts.get(part), 0, "{lost:?}: {wait:#?}");
        assert_eq!(wait.parts.unattributed, whole.parts.get(before) + whole.parts.get(part), "{lost:?}");
        assert_eq!((wait.parts.slack, wait.lateness_ns), (whole.parts.slack, whole.lateness_ns));
    }
}

#[test]
fn without_the_timers_callback_nothing_up_to_the_waking_is_guessed() {
    let mut stream = Stream::plain();
    stream.lose(Kind::Fire);
    let wait = only(&stream);
    assert_eq!(wait.outcome, Outcome::Timer, "the call says so, and an event is known to be lost");
    assert_eq!(wait.parts.slack + wait.parts.irq + wait.parts.irqbody + wait.parts.wake, 0);
    assert_eq!(wait.parts.unattributed, 53_100);
}

#[test]
fn a_thread_that_is_woken_before_it_left_its_cpu_waits_for_none() {
    let mut stream = Stream::plain();
    stream.remove(Kind::Out);
    stream.remove(Kind::In);
    stream.find(Kind::Return).x = 5;
    let wait = only(&stream);
    assert_eq!((wait.parts.runq, wait.parts.ret, wait.parts.unattributed), (0, 4_000, 0));
}

#[test]
fn a_wait_that_an_event_or_a_signal_ends_is_counted_apart() {
    for (result, outcome) in [(1, Outcome::Event), (-4i64 as u64, Outcome::Signal)] {
        let mut stream = Stream::of(EPOLL_WAIT);
        stream.remove(Kind::Fire);
        stream.find(Kind::Return).x = 6;
        stream.find(Kind::Return).fields[0] = result;
        let wait = waits(&stream).remove(0);
        assert_eq!((wait.outcome, wait.parts.sum()), (outcome, 0), "{result}");
    }
}

#[test]
fn steps_that_the_kernel_left_out_uncounted_are_unattributed() {
    let mut stream = Stream::plain();
    for kind in [Kind::Fire, Kind::Waking, Kind::Wakeup, Kind::In] {
        stream.remove(kind);
    }
    stream.find(Kind::Return).x = 3;
    let wait = only(&stream);
    assert_eq!((wait.outcome, wait.lost_events), (Outcome::Timer, 0), "its call says that the time was over");
    assert_eq!(parts(&wait), [(Part::Api, 300), (Part::Unattributed, 57_700)]);
    // One that ended before its time did not.
    stream.find(Kind::Return).t = D - 500_000;
    assert_eq!(waits(&stream)[0].outcome, Outcome::Event);
}

#[test]
fn a_select_that_was_stopped_goes_on_with_the_rest_of_its_span() {
    let wait = only(&Stream::stopped_select());
    assert_eq!((wait.outcome, wait.restarts, wait.requested_ns), (Outcome::Timer, 1, Some(1_000_000)));
    // Stopped for 9 ms, of which its span lost nothing.
    assert_eq!((wait.parts.stop, wait.parts.slack, wait.parts.irq), (9_000_100, 50_000, 2_000));
    assert!(wait.is_attributed());
}

#[test]
fn another_select_after_a_handler_is_another_wait() {
    let mut stream = Stream::stopped_select();
    let again = stream.events.iter_mut().filter(|event| event.kind == Kind::Arm).nth(1).expect("it is armed twice");
    again.fields[1] = 1_000_000;
    let waits = waits(&stream);
    assert_eq!(waits.iter().map(|wait| wait.outcome).collect::<Vec<_>>(), [Outcome::Signal, Outcome::Timer]);
    assert_eq!(waits[0].end, D - 497_000, "it ended when its call did");
}

#[test]
fn the_signal_of_a_timer_is_what_its_wait_was_for() {
    for (call, result) in [(stream::PAUSE, -514i64), (CLOCK_NANOSLEEP, -516), (stream::RT_SIGTIMEDWAIT, 14)] {
        let wait = only(&Stream::posix_timer(call, result as u64));
        assert_eq!((wait.request, wait.outcome), (Request::Timer, Outcome::Timer), "{result}");
        assert_eq!((wait.timer.as_deref(), wait.requested_ns), (Some("timer_settime"), Some(1_000_000)));
        assert_eq!((wait.parts.api, wait.parts.irq, wait.parts.unattributed), (300, 5_000, 0));
    }
}

#[test]
fn calls_of_32_bit_programs_have_numbers_of_their_own() {
    use oversleep_why::calls::{COMPAT, Call};
    let name = |number| Call::of(Arch::X86_64, number).map(|call| (call.name, call.width));
    assert_eq!(name(COMPAT + 162), Some(("nanosleep", 4)));
    assert_eq!(name(COMPAT + 407), Some(("clock_nanosleep_time64", 8)));
    assert_eq!(name(162), None);
    assert_eq!(Call::of(Arch::Aarch64, COMPAT + 162).map(|call| call.name), None);
}

#[test]
fn a_stopped_wait_is_continued_by_the_restarted_call() {
    let wait = only(&Stream::stopped());
    assert_eq!((wait.outcome, wait.restarts), (Outcome::Timer, 1));
    assert_eq!(wait.call.as_deref(), Some("clock_nanosleep"));
    assert_eq!(
        parts(&wait),
        [
            (Part::Api, 300),
            (Part::Stop, 9_000_000),
            (Part::Irq, 2_000),
            (Part::Irqbody, 700),
            (Part::Wake, 400),
            (Part::Ipi, 600),
            (Part::Runq, 3_000),
            (Part::Ret, 1_000)
        ]
    );
}

#[test]
fn a_quota_that_stops_the_thread_on_its_way_out_belongs_to_the_wait() {
    let mut stream = Stream::plain();
    stream.throttled_after_return(2_000, 40_000_000);
    let wait = only(&stream);
    assert_eq!((wait.parts.ret, wait.parts.quota), (1_000, 40_002_000));
    assert_eq!(wait.lateness_ns, 58_000 + 40_002_000);
    let mut later = Stream::plain();
    later.throttled_after_return(5_000_000, 40_000_000);
    assert_eq!(only(&later).parts.quota, 0, "the program's own work used up the quota");
}

#[test]
fn a_quota_of_an_older_kernel_is_seen_in_its_accounts() {
    let mut stream = Stream::plain();
    stream.find(Kind::In).fields[1] = 2_500;
    let wait = only(&stream);
    assert_eq!((wait.parts.runq, wait.parts.quota), (500, 2_500));
}

#[test]
fn whoever_ran_on_the_cpu_meanwhile_is_named() {
    let mut stream = Stream::plain();
    let wakeup = stream.find(Kind::Wakeup).t;
    let at = stream.run("hog", 77, (wakeup - 5_000_000, wakeup + 2_900), (1, 49));
    stream.events[at].fields[3] = 1;
    let wait = only(&stream);
    let culprit = &wait.culprits[0];
    assert_eq!((&culprit.name[..], culprit.ran_ns, culprit.why), ("hog", 2_900, Why::HigherPolicy));
    assert!(culprit.is_pinned);
}

#[test]
fn a_thread_that_loses_its_cpu_on_the_way_out_waits_for_it_again() {
    let mut stream = Stream::plain();
    stream.preempted_before_return(100, 800);
    let wait = only(&stream);
    assert_eq!((wait.parts.runq, wait.parts.ret), (3_000 + 800, 200));
}

#[test]
fn the_cause_of_a_late_interrupt_is_what_its_cpu_did() {
    let mut stream = Stream::plain();
    stream.late_by(200_000);
    let softirq = stream.context((0, 0), (D + 50_000, D + 250_000), 3);
    let wait = only(&softirq);
    assert_eq!(wait.irq_cause, Some(IrqCause::Softirq { name: "NET_RX".to_owned(), ran_ns: 199_700 }));
    let interrupt = only(&stream.context((D + 60_000, D + 240_000), (1, 2), 11 << 32));
    assert!(matches!(interrupt.irq_cause, Some(IrqCause::Interrupt { number: 11, ran_ns: 180_000, .. })));
    let mut idle = stream.context((1, 2), (1, 2), 0);
    idle.find(Kind::Fire).fields[2] = 3;
    assert_eq!(only(&idle).irq_cause, Some(IrqCause::Idle { state: 2 }));
}

#[test]
fn a_deadline_that_had_passed_is_the_programs_own_lateness() {
    let mut stream = Stream::plain();
    let arm = stream.find(Kind::Arm);
    arm.fields = [D + 20_000, D, 2, D, D, 0];
    arm.t = D + 20_100;
    stream.find(Kind::Out).t = D + 20_200;
    let wait = only(&stream);
    assert_eq!((wait.called_late_ns, wait.lateness_ns, wait.parts.api), (20_000, 38_000, 0));
}

/// A call that is made so long after its deadline.
fn called_late_by(ns: u64) -> Stream {
    let mut stream = Stream::plain();
    stream.shift_from(Kind::Out, ns);
    let arm = stream.find(Kind::Arm);
    (arm.fields, arm.t) = ([D + ns, D, 2, D, D, 0], D + ns + 100);
    stream
}

#[test]
fn a_thread_that_catches_up_is_late_by_the_wait_that_was() {
    let mut machine = Machine::new(Arch::X86_64);
    let mut first = Stream::plain();
    first.late_by(100_000);
    // The last one is later than all waits before it have made the thread.
    for stream in [first, called_late_by(120_000), called_late_by(110_000), called_late_by(600_000)] {
        stream.events.iter().for_each(|event| machine.feed(event));
    }
    machine.finish();
    let waits = machine.take();
    let behind: Vec<Option<i64>> = waits.iter().map(|wait| wait.late_before_ns).collect();
    let late: Vec<i64> = waits.iter().map(|wait| wait.lateness_ns).collect();
    assert_eq!(behind[0], None);
    assert_eq!(behind[1], Some(late[0]));
    assert_eq!(behind[2], Some(120_000 + late[1]), "it has made up for none of it");
    assert_eq!(behind[3], Some(110_000 + late[2]));
    assert!(late[0] >= 120_000 && behind[3] < Some(600_000), "{late:?}");
}

#[test]
fn a_wait_by_a_timer_of_its_own_begins_when_that_fires() {
    let stream = Stream::timerfd();
    let waits = waits(&stream);
    assert_eq!(waits.len(), 2);
    let wait = &waits[1];
    assert_eq!((wait.request, wait.requested_ns, wait.outcome), (Request::Timer, Some(1_000_000), Outcome::Timer));
    assert_eq!((wait.timer.as_deref(), wait.call.as_deref()), (Some("timerfd_settime"), Some("read")));
    assert_eq!(wait.parts.sum(), wait.lateness_ns);
    assert_eq!((wait.parts.irq, wait.parts.unattributed), (5_000, 0));
}

#[test]
fn a_socket_timeout_ends_on_a_tick() {
    let mut stream = Stream::of(stream::RECVFROM);
    let arm = stream.find(Kind::Arm);
    arm.fields = [D - 1_000_000, 0, 2 << 8, D, D, 0];
    let fire = stream.find(Kind::Fire);
    (fire.fields[3], fire.fields[4], fire.fields[5]) = (0, 0, 2);
    stream.find(Kind::Return).fields[0] = -11i64 as u64;
    let wait = only(&stream);
    assert_eq!((wait.request, wait.parts.slack, wait.parts.irq), (Request::Unknown, 52_300, 0));
}

#[test]
fn what_the_program_meant_makes_rounding_visible() {
    let mut stream = Stream::of(EPOLL_WAIT);
    stream.find(Kind::Arm).fields[1] = 2_000_000;
    stream.shift_from(Kind::Arm, 1_000_000);
    let wait = only(&stream).wanting(1_200_000);
    assert_eq!(wait.parts.sum(), wait.lateness_ns);
    assert_eq!(wait.parts.api, 800_300);
    assert_eq!(wait.lateness_ns, 858_000);
}

#[test]
fn steal_is_a_note_and_no_part() {
    let mut stream = Stream::plain();
    stream.steal(D, D + 10_000_000, 20_000_000);
    let wait = only(&stream);
    assert_eq!((wait.steal_ns, wait.lateness_ns), (58_000, 58_000));
    assert_eq!(wait.parts, only(&Stream::plain()).parts);
}

#[test]
fn both_processors_number_their_calls_differently() {
    let number = |name: &str, arch| {
        oversleep_why::calls::CALLS.iter().find(|call| call.name == name).and_then(|call| call.number(arch))
    };
    assert_eq!(number("clock_nanosleep", Arch::X86_64), Some(CLOCK_NANOSLEEP));
    assert_eq!(number("clock_nanosleep", Arch::Aarch64), Some(115));
    assert_eq!(number("epoll_wait", Arch::Aarch64), None);
}

#[test]
fn whoever_ran_has_the_name_of_its_process_and_is_told_from_the_own_one() {
    let mut stream = Stream::plain();
    let wakeup = stream.find(Kind::Wakeup).t;
    let at = stream.run("opt cgu.14", 77, (wakeup - 5_000_000, wakeup + 2_900), (0, 120));
    let plain = &only(&stream).culprits[0];
    assert_eq!((plain.process.as_deref(), plain.whose), (None, Whose::Program));
    let mut named = stream.events[at];
    (named.kind, named.name) = (Kind::Process, [0; 16]);
    named.name[..5].copy_from_slice(b"rustc");
    stream.events.insert(at, named);
    let culprit = &only(&stream).culprits[0];
    assert_eq!((&*culprit.name, culprit.process.as_deref()), ("opt cgu.14", Some("rustc")));
    stream.events[at + 1].tgid = only(&stream).tgid;
    assert_eq!(only(&stream).culprits[0].whose, Whose::Own, "by its process, whatever its name");
}

#[test]
fn a_delay_that_the_hypervisor_reports_has_no_other_cause() {
    let mut stream = Stream::plain();
    stream.late_by(5_000_000);
    assert!(matches!(only(&stream).irq_cause, Some(IrqCause::Task { .. })));
    let mut half = stream.clone();
    half.steal(D, D + 10_000_000, 2_000_000);
    assert!(matches!(only(&half).irq_cause, Some(IrqCause::Task { .. })), "most of it is unexplained");
    stream.steal(D, D + 10_000_000, 4_000_000);
    assert_eq!(only(&stream).irq_cause, Some(IrqCause::Steal));
    let mut short = Stream::plain();
    short.late_by(500_000);
    short.steal(D, D + 10_000_000, 4_000_000);
    assert!(matches!(only(&short).irq_cause, Some(IrqCause::Task { .. })), "it may have any cause in that interval");
}
