//! The time slice of the calling thread, held by the library's own guard.

use oversleep::TimeSlice;
use oversleep_record::conditions::Setting;
use oversleep_record::{Nanos, Unavailable};
use oversleep_system::{TunableInfo, describe, tunables};

use super::slack::{nanos, reason};
use crate::native::tunables::{Applied, Entry, already, changed, undo};

pub(super) struct Slice;

impl Entry for Slice {
    type Request = Nanos;

    const INFO: &'static TunableInfo = describe!(tunables::LINUX, "slice");

    fn parse(setting: &Setting) -> Option<Nanos> {
        let &Setting::Nanos(requested) = setting else { return None };
        (nanos(TimeSlice::SHORTEST)..=nanos(TimeSlice::LONGEST)).contains(&requested).then_some(requested)
    }

    fn read() -> Result<Setting, Unavailable> {
        TimeSlice::current().map(|slice| Setting::Nanos(nanos(slice))).map_err(|denied| reason(&denied))
    }

    fn change(requested: Nanos, _: &Setting) -> Result<Applied, Unavailable> {
        let span = requested.to_std().ok_or_else(|| Unavailable::failed(Self::INFO.call, "that is no span"))?;
        let guard = TimeSlice::hold(span);
        match *guard.outcome() {
            oversleep::Outcome::Applied { was, now } if nanos(now) == requested => {
                Ok(changed(Setting::Nanos(nanos(was)), Setting::Nanos(nanos(now)), undo(move || drop(guard))))
            }
            oversleep::Outcome::Applied { now, .. } => {
                Err(Unavailable::failed(Self::INFO.call, format!("the slice became {} instead", nanos(now))))
            }
            oversleep::Outcome::AlreadyFiner { is } if nanos(is) == requested => Ok(already(Setting::Nanos(requested))),
            oversleep::Outcome::AlreadyFiner { is } if is.is_zero() => {
                Err(Unavailable::failed(Self::INFO.call, "a thread under a real-time policy has no slice"))
            }
            oversleep::Outcome::AlreadyFiner { is } => Err(Unavailable::failed(
                Self::INFO.call,
                format!("the slice is {} already, and a shorter one is left as it is", nanos(is)),
            )),
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

    #[test]
    fn is_applied_and_restored() {
        let on_a_new_thread = std::thread::spawn(|| {
            let before = match Of(Slice).current() {
                Ok(before) => before,
                Err(why) => return oversleep_testing::skip(why),
            };
            let requested = Setting::Nanos(Nanos(150_000));
            let (outcome, guard) = Of(Slice).apply(&requested);
            assert_eq!(outcome, Outcome::Applied { was: Some(before.clone()), now: requested.clone() });
            assert_eq!(Of(Slice).current(), Ok(requested));
            drop(guard);
            assert_eq!(Of(Slice).current(), Ok(before));
        });
        on_a_new_thread.join().expect("no panic");
    }

    #[test]
    fn refuses_spans_that_the_kernel_would_change() {
        for ns in [0, 99_999, 100_000_001] {
            let (outcome, guard) = Of(Slice).apply(&Setting::Nanos(Nanos(ns)));
            assert!(!outcome.holds() && guard.is_none(), "{ns}");
        }
    }
}
