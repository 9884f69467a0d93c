//! Claims in every order, on a thread that behaves as Linux does.

use proptest::prelude::*;

use super::*;

const BASE_SLACK_NS: u64 = 50_000;
const BASE_SLICE_NS: u64 = 1_400_000;

/// A thread of Linux 6.12: under a real-time policy slack reads zero and can't be set, and leaving it sets the default;
/// slices are read and set under ordinary policies only, and zero asks for the default.
#[derive(Clone, Debug, PartialEq)]
struct Linux {
    slack_ns: u64,
    slice_ns: u64,
    has_own_slice: bool,
    priority: u32,
}

impl Thread for Linux {
    type Policy = u32;

    fn slack_ns(&mut self) -> Result<u64, Denied> {
        Ok(self.slack_ns)
    }

    fn set_slack_ns(&mut self, ns: u64) -> Result<(), Denied> {
        if self.priority == 0 {
            self.slack_ns = ns;
        }
        Ok(())
    }

    fn slice_ns(&mut self) -> Result<u64, Denied> {
        Ok(if self.priority == 0 { self.slice_ns } else { 0 })
    }

    fn set_slice_ns(&mut self, ns: u64) -> Result<(), Denied> {
        if self.priority == 0 {
            (self.slice_ns, self.has_own_slice) = (ns, true);
        }
        Ok(())
    }

    fn restore_slice_ns(&mut self, ns: u64) {
        if self.priority == 0 {
            (self.slice_ns, self.has_own_slice) = (ns, ns != BASE_SLICE_NS);
        }
    }

    fn policy(&mut self) -> Result<u32, Denied> {
        Ok(self.priority)
    }

    fn set_policy(&mut self, priority: u32) -> Result<(), Denied> {
        match (self.priority, priority) {
            (0, 1..) => self.slack_ns = 0,
            (1.., 0) => self.slack_ns = BASE_SLACK_NS,
            _ => {}
        }
        self.priority = priority;
        Ok(())
    }

    fn rank(priority: u32) -> u32 {
        priority
    }
}

#[derive(Clone, Copy, Debug)]
enum Request {
    Slack(u64),
    Slice(u64),
    RealTime(u32),
}

fn hold(settings: &mut Settings<u32>, thread: &mut Linux, request: Request) -> Option<Claim> {
    match request {
        Request::Slack(ns) => settings.hold::<Slack, _>(thread, |_| ns, Err).unwrap().0,
        Request::Slice(ns) => settings.hold::<Slice, _>(thread, |_| ns, Err).unwrap().0,
        Request::RealTime(priority) => settings.hold::<RealTime, _>(thread, |_| priority, Err).unwrap().0,
    }
}

fn release(settings: &mut Settings<u32>, thread: &mut Linux, request: Request, claim: Claim) {
    match request {
        Request::Slack(_) => settings.release::<Slack, _>(thread, claim),
        Request::Slice(_) => settings.release::<Slice, _>(thread, claim),
        Request::RealTime(_) => settings.release::<RealTime, _>(thread, claim),
    }
}

#[test]
fn each_release_leaves_what_the_others_ask_for() {
    let mut thread = Linux { slack_ns: BASE_SLACK_NS, slice_ns: BASE_SLICE_NS, has_own_slice: false, priority: 0 };
    let (before, mut settings) = (thread.clone(), Settings::NONE);
    let [first, second] = [7_000, 1].map(|ns| settings.hold::<Slack, _>(&mut thread, |_| ns, Err).unwrap().0.unwrap());
    settings.release::<Slack, _>(&mut thread, first);
    assert_eq!(thread.slack_ns, 1);
    settings.release::<Slack, _>(&mut thread, second);
    assert_eq!(thread, before);
    // The shorter slice and the higher priority win, whichever came first.
    let [short, long] =
        [100_000, 500_000].map(|ns| settings.hold::<Slice, _>(&mut thread, |_| ns, Err).unwrap().0.unwrap());
    assert_eq!(thread.slice_ns, 100_000);
    settings.release::<Slice, _>(&mut thread, short);
    assert_eq!(thread.slice_ns, 500_000);
    settings.release::<Slice, _>(&mut thread, long);
    let [high, low] = [20, 10].map(|high| settings.hold::<RealTime, _>(&mut thread, |_| high, Err).unwrap().0.unwrap());
    settings.release::<RealTime, _>(&mut thread, high);
    assert_eq!(thread.priority, 10);
    settings.release::<RealTime, _>(&mut thread, low);
    assert_eq!(thread, before);
    assert!(settings.is_empty());
}

proptest! {
    /// The last drop restores the thread's own slice or the default, whatever is held, and in whatever order it is released.
    #[test]
    fn the_last_release_restores_the_thread(
        requests in proptest::collection::vec(
            prop_oneof![
                (1_u64..100_000).prop_map(Request::Slack),
                (100_000_u64..2_000_000).prop_map(Request::Slice),
                (1_u32..99).prop_map(Request::RealTime),
            ],
            1..8,
        ),
        order in proptest::collection::vec((any::<bool>(), 0_usize..8), 0..40),
        own_slice in prop_oneof![Just(None), (100_000_u64..3_000_000).prop_map(Some)],
        slack_ns in 1_u64..100_000,
    ) {
        let mut thread = Linux {
            slack_ns,
            slice_ns: own_slice.unwrap_or(BASE_SLICE_NS),
            has_own_slice: own_slice.is_some_and(|ns| ns != BASE_SLICE_NS),
            priority: 0,
        };
        let (before, mut settings) = (thread.clone(), Settings::NONE);
        let (mut waiting, mut held) = (requests, Vec::new());
        for (is_hold, at) in order {
            if is_hold && !waiting.is_empty() {
                let request = waiting.swap_remove(at % waiting.len());
                held.extend(hold(&mut settings, &mut thread, request).map(|claim| (request, claim)));
            } else if !is_hold && !held.is_empty() {
                let (request, claim) = held.swap_remove(at % held.len());
                release(&mut settings, &mut thread, request, claim);
            }
            let highest = held.iter().filter_map(|(request, _)| match request {
                Request::RealTime(priority) => Some(*priority),
                _ => None,
            });
            prop_assert_eq!(thread.priority, highest.max().unwrap_or(0));
        }
        for (request, claim) in held {
            release(&mut settings, &mut thread, request, claim);
        }
        prop_assert_eq!(thread, before);
        prop_assert!(settings.is_empty());
    }
}
