//! What tells an observed series from others: the program, the thread, the call and the request of its waits.

use std::fmt;

use crate::distribution::Distribution;
use crate::environment::Os;
use crate::experiment::ExperimentId;
use crate::label::{self, Labels};
use crate::observed::ObservedWaits;
use crate::observed::wait::Request;
use crate::series::{Quantity, Series, Unit};
use crate::units::Nanos;

/// What the waits of an observed series have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The program's name.
    pub program: String,
    /// The thread's name.
    pub thread: String,
    /// The call, `unknown` where it wasn't seen.
    pub call: String,
    /// The call that set the timer, where that isn't the wait itself.
    pub timer: Option<String>,
    /// How the request was stated.
    pub request: Request,
    /// The request to two digits; `None` where it wasn't seen or requests differ too much.
    pub requested_ns: Option<Nanos>,
}

/// Stands for the call where a recording has no calls and no timers: a thread waited for a CPU after waking up.
pub const WAKE_UP: &str = "wake-up";

impl Identity {
    /// Whether only its waking up was recorded.
    pub fn is_wake_up(&self) -> bool {
        self.call == WAKE_UP
    }

    /// That of an observed series; `None` for another series.
    pub fn of(series: &Series) -> Option<Identity> {
        series.observed.as_ref()?;
        Some(Identity::stated(&series.labels, &series.subject, series.requested_ns))
    }

    /// That of a call with these labels.
    pub fn stated(labels: &Labels, call: &str, requested_ns: Option<Nanos>) -> Identity {
        Identity {
            program: labels.get(label::PROGRAM).unwrap_or_default(),
            thread: labels.get(label::THREAD).unwrap_or_default(),
            call: call.to_owned(),
            timer: labels.get(label::TIMER),
            request: labels.get(label::REQUEST).unwrap_or(Request::Unknown),
            requested_ns,
        }
    }

    /// `1 ms`, `until 1 ms`, `every 1 ms`: how the request is stated; `None` where it isn't known.
    pub fn requested(&self) -> Option<String> {
        let mark = match self.request {
            Request::Deadline => "until ",
            Request::Timer => "every ",
            Request::Span | Request::Unknown => "",
        };
        self.requested_ns.map(|span| format!("{mark}{span}"))
    }
}

/// `python3: clock_nanosleep for 1 ms`.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        if self.thread != self.program {
            write!(f, " ({})", self.thread)?;
        }
        if self.is_wake_up() {
            return Ok(());
        }
        write!(f, ": {}", self.call)?;
        if let Some(timer) = &self.timer {
            write!(f, " of {timer}")?;
        }
        match (self.requested_ns, self.request) {
            (Some(span), Request::Span) => write!(f, " for {span}"),
            (Some(span), Request::Deadline) => write!(f, " until a deadline {span} ahead"),
            (Some(span), Request::Timer) => write!(f, " every {span}"),
            (Some(span), Request::Unknown) => write!(f, " with a timeout of {span}"),
            (None, Request::Deadline) => f.write_str(" until a deadline"),
            (None, _) => Ok(()),
        }
    }
}

impl Series {
    /// The waits of an observed program that have this in common, with their lateness; fill in the rest.
    pub fn observed(identity: &Identity, os: Os, lateness: Distribution) -> Series {
        let quantity = if identity.is_wake_up() { Quantity::WakeUpLatency } else { Quantity::Lateness };
        let mut series = Series::new(ExperimentId::Y1, &identity.call, quantity, Unit::Ns);
        series.requested_ns = identity.requested_ns;
        if let Some(span) = identity.requested_ns {
            series.key = series.key.span(span);
        }
        series.key = series.key.text("program", &identity.program);
        series.labels = Labels::new().with(label::PROGRAM, identity.program.clone());
        // A thread mostly has its program's name.
        series.labels.set(label::THREAD, identity.thread.clone());
        if identity.thread != identity.program {
            series.key = series.key.text("thread", &identity.thread);
        }
        if let Some(timer) = &identity.timer {
            series.key = series.key.text("timer", timer);
            series.labels.set(label::TIMER, timer.clone());
        }
        series.labels.set(label::REQUEST, identity.request);
        if identity.request != Request::Span {
            series.key = series.key.word(identity.request.as_str());
        }
        series.clock = if os == Os::Windows { "qpc" } else { "monotonic" }.to_owned();
        series.counts.recorded = lateness.count();
        series.counts.early = lateness.early_count();
        series.distribution = lateness;
        series.observed = Some(ObservedWaits::default());
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_whose_request_is_stated_in_another_way_have_another_name() {
        let name = |request: Request, requested_ns: Option<Nanos>| {
            let (program, call) = ("app".to_owned(), "futex".to_owned());
            Identity { thread: program.clone(), program, call, timer: None, request, requested_ns }.to_string()
        };
        let names = Request::ALL.map(|request| name(request, Some(Nanos::from_millis(1))));
        let ends = ["for 1 ms", "until a deadline 1 ms ahead", "every 1 ms", "with a timeout of 1 ms"];
        assert_eq!(names, ends.map(|end| format!("app: futex {end}")));
        assert_eq!(name(Request::Deadline, None), "app: futex until a deadline");
        assert_eq!(name(Request::Unknown, None), "app: futex");
    }

    #[test]
    fn a_thread_that_woke_up_is_named_alone() {
        let [program, thread, call] = ["app", "audio", WAKE_UP].map(str::to_owned);
        let woken = Identity { program, thread, call, timer: None, request: Request::Unknown, requested_ns: None };
        assert_eq!(woken.to_string(), "app (audio)");
    }
}
