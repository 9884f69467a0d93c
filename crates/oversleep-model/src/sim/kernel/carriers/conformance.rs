//! The requirements of the event loop, as tests for each kind of carrier; each runs them in its own file. In a browser,
//! where panics end the program and there is no test harness, the replacement for a test calls `turns`.

macro_rules! conformance {
    () => {
        pub mod conformance {
            //! The requirements of the event loop.

            #[cfg(test)]
            use std::panic::{AssertUnwindSafe, catch_unwind};
            use std::sync::Arc;
            use std::sync::atomic::{AtomicUsize, Ordering};

            use super::*;

            /// All tests that need no unwinding panic.
            #[cfg_attr(test, allow(dead_code, reason = "tests call each part by itself"))]
            pub fn turns() {
                it_goes_on_where_it_stopped_and_each_time_knows_its_slot();
                carriers_take_turns_and_start_others_from_within();
                a_job_that_never_began_is_dropped();
            }

            #[cfg_attr(test, test)]
            fn it_goes_on_where_it_stopped_and_each_time_knows_its_slot() {
                let mut carrier = Carrier::new(Box::new(|me| me * 10 + pass(me + 1) * 100)).unwrap();
                assert_eq!(carrier.resume(3), Stop::Passed(4));
                assert_eq!(carrier.resume(5), Stop::Ended(530));
            }

            #[cfg_attr(test, test)]
            fn carriers_take_turns_and_start_others_from_within() {
                let inner = || -> Job { Box::new(|me| pass(me) + 1) };
                let outer: Job = Box::new(move |me| {
                    let mut carrier = Carrier::new(inner()).unwrap();
                    assert_eq!(carrier.resume(7), Stop::Passed(7));
                    assert_eq!(pass(me), 2);
                    assert_eq!(carrier.resume(8), Stop::Ended(9));
                    pass(me) + 10
                });
                let (mut first, mut second) = (Carrier::new(outer).unwrap(), Carrier::new(inner()).unwrap());
                assert_eq!(first.resume(1), Stop::Passed(1));
                assert_eq!(second.resume(5), Stop::Passed(5));
                assert_eq!(first.resume(2), Stop::Passed(1));
                assert_eq!(second.resume(6), Stop::Ended(7));
                assert_eq!(first.resume(3), Stop::Ended(13));
            }

            #[test]
            fn a_panic_reaches_whoever_resumed_it() {
                let panics: Job = Box::new(|me| {
                    pass(me);
                    std::panic::resume_unwind(Box::new("passed on"))
                });
                let mut carrier = Carrier::new(panics).unwrap();
                assert_eq!(carrier.resume(1), Stop::Passed(1));
                let panic = catch_unwind(AssertUnwindSafe(|| carrier.resume(1))).unwrap_err();
                assert_eq!(panic.downcast_ref(), Some(&"passed on"));
            }

            #[test]
            fn one_that_unwinds_may_hand_the_baton_on_while_it_does() {
                struct Hands(usize);
                impl Drop for Hands {
                    fn drop(&mut self) {
                        assert_eq!(pass(self.0), 2);
                    }
                }
                let unwinds = |first: Slot| -> Job {
                    Box::new(move |_| {
                        let caught = catch_unwind(|| {
                            let _hands = Hands(first);
                            std::panic::resume_unwind(Box::new(first));
                        });
                        *caught.unwrap_err().downcast_ref::<Slot>().unwrap()
                    })
                };
                let mut carriers = [30, 40].map(|first| Carrier::new(unwinds(first)).unwrap());
                assert_eq!(carriers.each_mut().map(|carrier| carrier.resume(1)), [30, 40].map(Stop::Passed));
                assert_eq!(carriers.each_mut().map(|carrier| carrier.resume(2)), [30, 40].map(Stop::Ended));
            }

            #[cfg_attr(test, test)]
            fn a_job_that_never_began_is_dropped() {
                let owned = Arc::new(AtomicUsize::new(0));
                let there = Arc::clone(&owned);
                drop(Carrier::new(Box::new(move |me| there.fetch_add(me, Ordering::Relaxed))).unwrap());
                // An OS thread releases it slightly later.
                while Arc::strong_count(&owned) > 1 {
                    std::thread::yield_now();
                }
                assert_eq!(owned.load(Ordering::Relaxed), 0);
            }
        }
    };
}
