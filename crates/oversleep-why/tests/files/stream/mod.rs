//! Made-up streams with round figures.
#![allow(dead_code, reason = "each test file uses its own part")]

use oversleep_why::{Event, Kind};

/// The deadline of the plain wait.
pub const D: u64 = 1_000_000_000;
pub const CLOCK_NANOSLEEP: u32 = 230;
pub const EPOLL_WAIT: u32 = 232;
pub const PAUSE: u32 = 34;
pub const RT_SIGTIMEDWAIT: u32 = 128;
pub const TIMER_SETTIME: u32 = 223;
pub const PSELECT6: u32 = 270;
const SETITIMER: u32 = 38;
pub const RECVFROM: u32 = 45;
const RESTART_SYSCALL: u32 = 219;
const READ: u32 = 0;
const TIMERFD_SETTIME: u32 = 286;
pub const TID: u32 = 42;
const TIMER: u64 = 0xffff_8880_1234_5678;

#[derive(Clone, Debug)]
pub struct Stream {
    pub events: Vec<Event>,
}

fn event(kind: Kind, t: u64, x: u32, fields: [u64; 6]) -> Event {
    Event { x, fields, ..Event::new(kind, t, TID) }
}

fn name(text: &str) -> [u8; 16] {
    let mut name = [0; 16];
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}

impl Stream {
    /// A wait of 1 ms that ends 58 µs late.
    pub fn plain() -> Stream {
        Stream::of(CLOCK_NANOSLEEP)
    }

    pub fn of(call: u32) -> Stream {
        let (entered, soft, hard) = (D - 1_000_000, D + 300, D + 50_300);
        let mut arm = event(Kind::Arm, entered + 400, call, [entered, 1_000_000, 1, soft, hard, 0]);
        arm.name = name("app");
        let mut stream = Stream { events: vec![arm, event(Kind::Out, entered + 900, 0, [0; 6])] };
        stream.wake(D, soft, hard);
        stream.events.push(event(Kind::Return, D + 58_000, 7, [0; 6]));
        stream
    }

    /// The stacks that a collector adds to a late wait before its call returns.
    pub fn stacks(&mut self, kernel: &[u64], user: &[u64]) {
        for (x, frames) in [(0, kernel), (1, user)] {
            let at = self.events.iter().position(|event| event.kind == Kind::Return).expect("it is there");
            let head = event(Kind::Stack, self.events[at].t, x, [0; 6]);
            let events: Vec<Event> = oversleep_why::stack::events_of_stack(head, frames).collect();
            self.events.splice(at..at, events);
        }
    }

    /// From the timer's callback to the CPU, with the timer interrupt at `at` + 52.3 µs.
    fn wake(&mut self, at: u64, soft: u64, hard: u64) {
        self.events.extend([
            event(Kind::Fire, at + 53_000, 0, [at + 52_300, TIMER, 0, soft, hard, 0]),
            event(Kind::Waking, at + 53_400, CLOCK_NANOSLEEP, [0; 6]),
            event(Kind::Wakeup, at + 54_000, 0, [0, 0, 120, 0, 2, 0]),
            event(Kind::In, at + 57_000, 0, [0; 6]),
        ]);
    }

    /// Its call ends before the deadline, with that result, in order to be started again. Returns when.
    fn end_early(&mut self, call: u32, result: i64) -> u64 {
        let left = D - 497_000;
        self.events.extend([
            event(Kind::Waking, left - 3_000, call, [0; 6]),
            event(Kind::Wakeup, left - 2_000, 0, [0, 0, 120, 0, 2, 0]),
            event(Kind::In, left - 1_000, 0, [0; 6]),
            event(Kind::Return, left, 6, [result as u64, 0, 0, 0, 0, 0]),
        ]);
        left
    }

    /// Stopped before its deadline and continued 9 ms after it.
    pub fn stopped() -> Stream {
        let mut stream = Stream::plain();
        stream.events.truncate(2);
        stream.end_early(CLOCK_NANOSLEEP, -516);
        let again = D + 300 + 9_000_000;
        let soft = D + 300;
        stream.events.push(event(Kind::Arm, again, RESTART_SYSCALL, [again - 200, 0, 0, soft, soft, 0]));
        stream.events.push(event(Kind::Out, again + 100, 0, [0; 6]));
        stream.wake(again - 50_300, soft, soft);
        stream.events.push(event(Kind::Return, again + 7_700, 7, [0; 6]));
        stream
    }

    /// The same with `select`, which begins again with what was left of its span.
    pub fn stopped_select() -> Stream {
        let mut stream = Stream::of(PSELECT6);
        stream.events.truncate(2);
        let left = stream.end_early(PSELECT6, -514);
        let (again, rest) = (left + 9_000_000, 497_000);
        let soft = again + rest + 400;
        stream.events.push(event(Kind::Arm, again + 400, PSELECT6, [again, rest, 1, soft, soft + 50_000, 0]));
        stream.events.push(event(Kind::Out, again + 500, 0, [0; 6]));
        stream.wake(soft - 300, soft, soft + 50_000);
        stream.events.push(event(Kind::Return, soft + 57_700, 7, [0; 6]));
        stream
    }

    /// A sleep of 1 ms whose call a signal ended after 503 µs, and which the program called again with the rest. The kernel
    /// adds the slack to the rest.
    pub fn interrupted() -> Stream {
        let mut stream = Stream::plain();
        stream.events.truncate(2);
        let left = stream.end_early(CLOCK_NANOSLEEP, -516);
        let (again, rest) = (left + 4_000, 497_000 + 50_300);
        let soft = again + rest + 400;
        stream.events.push(event(Kind::Arm, again + 400, CLOCK_NANOSLEEP, [again, rest, 1, soft, soft + 50_000, 0]));
        stream.events.push(event(Kind::Out, again + 500, 0, [0; 6]));
        stream.wake(soft - 300, soft, soft + 50_000);
        stream.events.push(event(Kind::Return, soft + 57_700, 7, [0; 6]));
        stream
    }

    /// A signal that reached the thread after its call had ended first, with its code and its sender.
    pub fn signal(&mut self, number: u32, code: i64, pid: u64, from: &str) {
        let at = self.events.iter().position(|event| event.kind == Kind::Return).expect("it is there");
        let mut signal = event(Kind::Signal, self.events[at].t + 100, number, [code as u64, pid, 0, 0, 0, 0]);
        signal.name = name(from);
        self.events.insert(at + 1, signal);
    }

    /// The thread leaves its CPU after its call had ended first, with these bits.
    pub fn out_after_return(&mut self, bits: u32) {
        let at = self.events.iter().position(|event| event.kind == Kind::Return).expect("it is there");
        self.events.insert(at + 1, event(Kind::Out, self.events[at].t + 100, bits, [0; 6]));
    }

    /// An interval timer of the process woke the thread from its first call.
    pub fn by_interval_timer(&mut self) {
        let at = D - 600_000;
        self.events.insert(0, event(Kind::Set, D - 2_000_000, SETITIMER, [0, 0, 0, at, at, TIMER + 64]));
        let waking = self.events.iter().position(|event| event.kind == Kind::Waking).expect("it is there");
        self.events[waking].fields[0] = TIMER + 64;
        let t = self.events[waking].t - 100;
        self.events.insert(waking, event(Kind::Fire, t, 0, [t, TIMER + 64, 0, at, at, 1]));
    }

    /// The spans that its first two calls request.
    pub fn request(&mut self, spans: [u64; 2]) {
        for (arm, span) in self.events.iter_mut().filter(|event| event.kind == Kind::Arm).zip(spans) {
            arm.fields[1] = span;
        }
    }

    /// A POSIX timer of 1 ms, whose signal ends that call.
    pub fn posix_timer(call: u32, result: u64) -> Stream {
        let (set, soft) = (D - 1_000_000, D + 300);
        Stream {
            events: vec![
                event(Kind::Set, set + 300, TIMER_SETTIME, [set, 1_000_000, 1, soft, soft, TIMER]),
                event(Kind::Fire, soft + 6_000, 0, [soft + 5_000, TIMER, 0, soft, soft, 1]),
                event(Kind::Waking, soft + 6_500, call, [TIMER, D - 900_000, 0, 0, 0, 0]),
                event(Kind::Wakeup, soft + 7_000, 0, [0, 0, 120, 0, 2, 0]),
                event(Kind::In, soft + 9_000, 0, [0; 6]),
                event(Kind::Return, soft + 10_000, 4, [result, 0, 0, 0, 0, 0]),
            ],
        }
    }

    /// A periodic timerfd of 1 ms that fires twice, and a thread that reads it.
    pub fn timerfd() -> Stream {
        let mut stream =
            Stream { events: vec![event(Kind::Set, D - 1_000_100, TIMERFD_SETTIME, [0, 0, 0, D, D, TIMER])] };
        for at in [D, D + 1_000_000] {
            stream.events.extend([
                event(Kind::Fire, at + 6_000, 0, [at + 5_000, TIMER, 0, at, at, 1]),
                event(Kind::Waking, at + 6_500, READ, [TIMER, at - 900_000, 0, 0, 0, 0]),
                event(Kind::Wakeup, at + 7_000, 0, [0, 0, 120, 0, 2, 0]),
                event(Kind::In, at + 9_000, 0, [0; 6]),
                event(Kind::Return, at + 10_000, 4, [8, 0, 0, 0, 0, 0]),
            ]);
        }
        stream
    }

    pub fn find(&mut self, kind: Kind) -> &mut Event {
        self.events.iter_mut().find(|event| event.kind == kind).expect("the stream has one")
    }

    /// The event never happened.
    pub fn remove(&mut self, kind: Kind) {
        self.events.retain(|event| event.kind != kind);
    }

    /// The event was sent, as the call's end says, and did not arrive.
    pub fn lose(&mut self, kind: Kind) {
        self.remove(kind);
    }

    pub fn throttled_after_return(&mut self, after: u64, ns: u64) {
        let t = self.find(Kind::Return).t + after;
        self.events.push(event(Kind::Out, t, 2, [0; 6]));
        self.events.push(event(Kind::In, t + ns, 0, [0; 6]));
    }

    pub fn preempted_before_return(&mut self, after: u64, ns: u64) {
        let t = self.find(Kind::In).t + after;
        let at = self.events.len() - 1;
        self.events.insert(at, event(Kind::Out, t, 1, [0; 6]));
        self.events.insert(at + 1, event(Kind::In, t + ns, 0, [0; 6]));
        self.find(Kind::Return).x = 9;
    }

    /// A turn of another task on CPU 0.
    pub fn run(&mut self, who: &str, tid: u32, (from, to): (u64, u64), (policy, prio): (u64, u64)) -> usize {
        let mut run = event(Kind::Run, to, 0, [from, prio, policy, 2, 0, 0]);
        (run.tid, run.tgid, run.name) = (tid, tid, name(who));
        let at = self.events.iter().position(|event| event.kind == Kind::In).expect("a switch");
        self.events.insert(at, run);
        at
    }

    /// Everything from the timer interrupt on comes later.
    pub fn late_by(&mut self, ns: u64) {
        self.find(Kind::Fire).fields[0] += ns;
        self.shift_from(Kind::Fire, ns);
    }

    pub fn shift_from(&mut self, kind: Kind, ns: u64) {
        let at = self.events.iter().position(|event| event.kind == kind).expect("the stream has one");
        let is_arm = kind == Kind::Arm;
        for event in &mut self.events[at + usize::from(is_arm)..] {
            event.t += ns;
        }
        if is_arm {
            for field in [3, 4] {
                self.find(Kind::Arm).fields[field] += ns;
                self.find(Kind::Fire).fields[field] += ns;
            }
            self.find(Kind::Fire).fields[0] += ns;
        }
    }

    /// The stream with what the CPU did before the timer fired.
    pub fn context(&self, irq: (u64, u64), soft: (u64, u64), numbers: u64) -> Stream {
        let mut stream = self.clone();
        let at = stream.events.iter().position(|event| event.kind == Kind::Fire).expect("it fires");
        let t = stream.events[at].t;
        stream.events.insert(at + 1, event(Kind::Context, t, 0, [irq.0, irq.1, soft.0, soft.1, numbers, 0]));
        stream
    }

    pub fn steal(&mut self, from: u64, to: u64, ns: u64) {
        self.events.insert(0, event(Kind::Steal, from, 0, [ns, to - from, 0, 0, 0, 0]));
    }
}
