//! Timer slack of the calling thread, held by the library's own guard.

use oversleep::{TimerSlack, Why};
use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{TunableInfo, describe, tunables};

use crate::native::tunables::{Applied, Entry, already, changed, undo};

pub(super) struct Slack;

pub(super) fn nanos(slack: std::time::Duration) -> Nanos {
    Nanos(i64::try_from(slack.as_nanos()).unwrap_or(i64::MAX))
}

pub(super) fn reason(denied: &oversleep::Denied) -> Unavailable {
    match denied.why {
        Why::Unsupported { .. } => Unavailable::NotOnThisPlatform,
        Why::Forbidden { call, .. } => Unavailable::not_permitted(call, denied.how),
        Why::Failed { call, errno } => Unavailable::failed(call, std::io::Error::from_raw_os_error(errno)),
        why => Unavailable::failed(Slack::INFO.call, why),
    }
}

impl Entry for Slack {
    type Request = (Nanos, std::time::Duration);

    const INFO: &'static TunableInfo = describe!(tunables::LINUX, "slack");

    fn parse(setting: &Setting) -> Option<(Nanos, std::time::Duration)> {
        let &Setting::Nanos(requested) = setting else { return None };
        Some((requested, requested.to_std().filter(|span| !span.is_zero())?))
    }

    fn read() -> Result<Setting, Unavailable> {
        TimerSlack::current().map(|slack| Setting::Nanos(nanos(slack))).map_err(|denied| reason(&denied))
    }

    fn change((requested, span): (Nanos, std::time::Duration), _: &Setting) -> Result<Applied, Unavailable> {
        let guard = TimerSlack::hold(span);
        match *guard.outcome() {
            oversleep::Outcome::Applied { was, now } if nanos(now) == requested => {
                Ok(changed(Setting::Nanos(nanos(was)), Setting::Nanos(nanos(now)), undo(move || drop(guard))))
            }
            oversleep::Outcome::Applied { now, .. } => {
                Err(Unavailable::failed(Self::INFO.call, format!("the slack became {} instead", nanos(now))))
            }
            // A thread under a real-time policy has none, which satisfies only a request for the finest.
            oversleep::Outcome::AlreadyFiner { is } if nanos(is) == requested || requested == Nanos(1) => {
                Ok(already(Setting::Nanos(nanos(is))))
            }
            oversleep::Outcome::AlreadyFiner { .. } => {
                Err(Unavailable::failed(Self::INFO.call, "a thread under a real-time policy has no slack"))
            }
            oversleep::Outcome::Denied(ref refusal) => Err(reason(refusal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::conditions::Outcome;
    use oversleep_system::Tunable;

    use super::*;
    use crate::native::tunables::Of;

    fn on_a_new_thread(body: impl FnOnce() + Send + 'static) {
        std::thread::spawn(body).join().expect("no panic");
    }

    #[test]
    fn is_applied_and_restored_also_while_unwinding() {
        on_a_new_thread(|| {
            let before = match Of(Slack).current() {
                Ok(before) => before,
                Err(why) => return oversleep_testing::skip(why),
            };
            let requested = Setting::Nanos(Nanos(123_456));
            let (outcome, guard) = Of(Slack).apply(&requested);
            assert_eq!(outcome, Outcome::Applied { was: Some(before.clone()), now: requested.clone() });
            assert_eq!(Of(Slack).current(), Ok(requested.clone()));
            assert_eq!(Of(Slack).apply(&requested).0, Outcome::AlreadySo { is: requested });
            let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
                let _guard = guard;
                std::panic::resume_unwind(Box::new("unwinds"));
            }));
            assert!(unwound.is_err());
            assert_eq!(Of(Slack).current(), Ok(before));
        });
    }

    #[test]
    fn refuses_zero_and_negative_spans() {
        for ns in [0, -1, i64::MIN] {
            let (outcome, guard) = Of(Slack).apply(&Setting::Nanos(Nanos(ns)));
            assert!(!outcome.holds() && guard.is_none(), "{ns}");
        }
    }
}
