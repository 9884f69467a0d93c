//! Whether advice leaves a better known call out: every call of the same language, and every sleep and timer of the system
//! where the language can make it, is tried on every machine.

use std::collections::BTreeMap;

use oversleep_model::platform;
use oversleep_record::series::Pace;
use oversleep_system::Family;
use oversleep_system::runtime_calls::{self, Thread, native};

use super::*;
use crate::ask::candidates::{is_sleep, waits_of};

/// Why calls of these names get no other call as advice, though some are closer to their time.
const REASONS: &[(&[&str], &str)] = &[
    (
        &[
            "condition_variable.wait_for",
            "future.wait_for",
            "timed_mutex.try_lock_for",
            "c.epoll_wait",
            "c.poll",
            "c.select",
            "c.pthread_cond_timedwait",
            "c.sem_timedwait",
            "c.mq_timedreceive",
            "ManualResetEventSlim.Wait",
            "Monitor.Wait",
            "TEvent.WaitFor",
            "free-pascal.RTLEventWaitFor",
            "glfwWaitEventsTimeout",
            "context.WithTimeout",
            "BlockingQueue.poll",
            "Condition.awaitNanos",
            "Object.wait",
            "uv_cond_timedwait",
            "IO::Poll::poll",
            "perl.select",
            "Event.wait",
            "Lock.acquire",
            "asyncio.wait_for",
            "queue.Queue.get",
            "queue.get",
            "select.epoll",
            "select.poll",
            "select.select",
            "threading.Condition.wait",
            "threading.Event.wait",
            "threading.Lock.acquire",
            "Condvar::wait_timeout",
            "mpsc::recv_timeout",
            "tokio::time::timeout",
            "MsgWaitForMultipleObjects",
            "io_uring_wait_cqe_timeout",
        ],
        "it waits for something besides the time, which no sleep does",
    ),
    (
        &["Time::HiRes::nanosleep", "Time::HiRes::sleep", "Time::HiRes::usleep"],
        "ualarm ends by a signal, which interrupts whatever else the program does",
    ),
    (&["SpinWait.SpinOnce"], "it is one turn of a loop that looks at something, and takes no span"),
    (&["pygame.time.Clock.tick"], "it waits for what is left of a frame"),
    (&["julia.sleep"], "it belongs to tasks, and no source says how a thread of the system ends one's wait"),
    (&["asyncio.sleep"], "what another thread does in Python is named, and the system's calls aren't better by much"),
    (
        &["tokio::time::sleep", "tokio::time::interval", "async_io::Timer"],
        "another thread or this project's crate is named for tasks, and no call of the system by hand",
    ),
    (&["deno.setInterval"], "a timeout that is set again in each callback waits as long from the sixth one on"),
    (&["timer:sleep"], "the other is a message at a rate"),
    (
        &["SystemClock.sleep", "android.Thread.sleep", "Atomics.wait", "nim.sleep"],
        "the other is a timer of an event loop, for which no thread waits",
    ),
    (
        &["time.Sleep", "time.Timer"],
        "Go before 1.16 serves its timers and sleeps alike, so on one machine they differ by their phase alone",
    ),
];

const OFTEN: u64 = 100;
const REQUEST: Nanos = Nanos::from_millis(1);

/// The medians on a machine, each tried once.
struct Tried {
    lab: Laboratory,
    known: BTreeMap<(String, bool), Option<f64>>,
}

impl Tried {
    fn question(name: &str, pace: Option<Pace>) -> Question {
        let subject = Subject::Wait { name: name.to_owned(), request: REQUEST };
        let question = Question::of(subject);
        Question { count: 6, pace: pace.or(question.pace), ..question }
    }

    /// The median lateness, ns.
    fn late_ns(&mut self, name: &str, pace: Option<Pace>) -> Option<f64> {
        let is_periodic = pace == Some(Pace::Periodic);
        if let Some(known) = self.known.get(&(name.to_owned(), is_periodic)) {
            return *known;
        }
        let answer = ask(&self.lab, &Tried::question(name, pace)).ok();
        let late = answer.map(|answer| {
            let on_time = if answer.meaning() == Meaning::Lateness { 0.0 } else { REQUEST.0 as f64 };
            answer.quantile_ns(0.5) - on_time
        });
        self.known.insert((name.to_owned(), is_periodic), late);
        late
    }
}

impl Tried {
    /// Whether the other is closer by a quarter, and so than what is named, when each is tried often: few values of a
    /// machine whose lateness varies differ by more.
    fn is_better(&self, record: &Record, other: &str) -> bool {
        let question = Question { count: OFTEN, ..Tried::question(&record.wait_name(), None) };
        let on_time = |answer: &Answer| if answer.meaning() == Meaning::Lateness { 0.0 } else { REQUEST.0 as f64 };
        let late = |question: &Question| {
            let answer = ask(&self.lab, question).ok()?;
            Some((answer.quantile_ns(0.5) - on_time(&answer), answer))
        };
        let Some((own, answer)) = late(&question) else { return false };
        let theirs = late(&Question { count: OFTEN, ..Tried::question(other, question.pace) });
        let Some((theirs, _)) = theirs.filter(|(theirs, _)| *theirs <= own * WORTHWHILE) else { return false };
        let named = helps(&self.lab, &question, &answer).unwrap_or_default();
        !named.iter().any(|help| (help.p50_ns - on_time(&answer)) * WORTHWHILE <= theirs)
    }
}

#[test]
fn no_better_known_call_is_left_out() {
    let (mut left_out, mut looked_at, mut reasons) = (BTreeMap::<String, Vec<String>>::new(), 0, BTreeMap::new());
    for machine in oversleep_model::names() {
        let lab = Laboratory::on(platform(machine, &[], 1).expect("a machine"));
        let (os, host) = (lab.platform_id().os, Host::of(lab.platform()));
        let mut tried = Tried { lab: lab.clone(), known: BTreeMap::new() };
        let here: Vec<&Record> =
            runtime_calls::all().iter().filter(|one| one.system == os && host.runs(one) && one.is_public()).collect();
        let kin = |wait: &&dyn oversleep_system::Wait| matches!(wait.info().family, Family::Sleep | Family::Timer);
        let own_of_system = |wait: &&dyn oversleep_system::Wait| runtime_calls::call(wait.info().call).is_none();
        let of_system: Vec<&str> = lab
            .platform()
            .waits()
            .iter()
            .map(AsRef::as_ref)
            .filter(kin)
            .filter(own_of_system)
            .map(|wait| wait.info().name)
            .collect();
        for record in &here {
            let name = record.wait_name();
            let question = Tried::question(&name, None);
            let Some(late) = tried.late_ns(&name, question.pace) else { continue };
            let Ok(answer) = ask(&lab, &question) else { continue };
            let helps = helps(&lab, &question, &answer).unwrap_or_default();
            if late < LATE_NS.max(REQUEST.0 as f64 / 10.0) {
                continue;
            }
            let on_time = if answer.meaning() == Meaning::Lateness { 0.0 } else { REQUEST.0 as f64 };
            let is_setting = |help: &&Help| {
                let word = help.what.split(' ').next().unwrap_or_default();
                lab.platform().tunable(word).is_some() || help.what.contains(", under ")
            };
            let best =
                helps.iter().filter(|help| !is_setting(help)).map(|help| help.p50_ns - on_time).min_by(f64::total_cmp);
            let mut better = Vec::new();
            let its = here
                .iter()
                .filter(|one| one.family() == record.family() && one.overlaps(record) && !one.is_same_call(record));
            let of_language = its.map(|one| one.wait_name());
            let may = native(record.family()).is_some_and(|native| native.waits);
            let of_system = of_system.iter().filter(|_| may).map(|&name| name.to_owned());
            let among = waits_of(other_calls(lab.platform(), record, None));
            for other in of_language.chain(of_system) {
                // Of those that were tried, the best was named.
                if among.contains(&other) {
                    continue;
                }
                looked_at += 1;
                let Some(other_late) = tried.late_ns(&other, question.pace) else { continue };
                // One that ends early is no better by that.
                if other_late < -EARLY_NS || other_late > late * WORTHWHILE {
                    continue;
                }
                if best.is_none_or(|best| other_late <= best * WORTHWHILE) && tried.is_better(record, &other) {
                    better.push(format!("{other} ({} µs)", (other_late / 1e3).round()));
                }
            }
            if better.is_empty() {
                continue;
            }
            match REASONS.iter().find(|(names, _)| names.contains(&record.names[0].as_str())) {
                Some((_, why)) => *reasons.entry(*why).or_insert(0) += 1,
                None => {
                    let kind = if is_sleep(record) {
                        "sleeps"
                    } else if record.thread() == Thread::Serves {
                        "serves"
                    } else {
                        "parks"
                    };
                    let what = format!(
                        "{} {} ({kind}, {} µs; best {best:?})",
                        record.family(),
                        record.names[0],
                        (late / 1e3).round()
                    );
                    left_out.entry(what).or_default().push(format!("{machine}: {}", better.join(", ")));
                }
            }
        }
    }
    assert!(looked_at > 5_000, "{looked_at}");
    assert!(left_out.is_empty(), "{left_out:#?}");
    let unneeded: Vec<&str> = REASONS.iter().map(|(_, why)| *why).filter(|why| !reasons.contains_key(why)).collect();
    assert!(unneeded.is_empty(), "no call needs these reasons: {unneeded:#?}");
}
