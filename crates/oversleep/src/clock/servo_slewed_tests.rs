//! The servo with an operating system's clock that the kernel slews by several percent: exact, and without real time.

use proptest::prelude::*;

use super::tests::readings;
use super::*;

/// The machine's suspended time, before and after a suspend of a minute.
const AWAKE: u64 = 5;
const RESUMED: u64 = AWAKE + 60_000_000_000;

/// A counter of 1 GHz that never stops, and a clock that is slewed by `ppm` from one moment to another.
#[derive(Clone, Copy)]
struct Slewed {
    ppm: i64,
    from: u64,
    until: u64,
}

impl Slewed {
    fn pair(self, ticks: u64) -> Pair {
        let slewed = i128::from(ticks.clamp(self.from, self.until) - self.from);
        let ns = i128::from(EPOCH_NS) + i128::from(ticks) + slewed * i128::from(self.ppm) / 1_000_000;
        Pair { ticks, ns: ns as u64 }
    }

    fn calibrated(self) -> State {
        let at = |ticks| readings(self.pair(ticks), ticks, AWAKE);
        State::calibrated(&at(0), &at(250_000)).unwrap()
    }
}

const EPOCH_NS: u64 = 1 << 50;

fn drawn(state: &State, pair: Pair) -> State {
    state.next(&readings(pair, pair.ticks, AWAKE))
}

/// Reads at the end of every window until `ticks`.
fn until(ticks: u64, clock: Slewed, mut state: State) -> State {
    while state.line.start.ticks + state.line.window < ticks {
        state = drawn(&state, clock.pair(state.line.start.ticks + state.line.window + 1));
    }
    state
}

#[test]
fn slewing_by_a_twelfth_is_followed_without_a_step_back() {
    for ppm in [-100_000, -83_333, -3_000, 3_000, 83_333, 100_000] {
        // Slewing begins in the middle of a window of 100 ms.
        let clock = Slewed { ppm, from: 1_050_000_000, until: 3_000_000_000 };
        let mut state = clock.calibrated();
        let mut before_ns = 0;
        for ticks in (250_000..5_000_000_000_u64).step_by(200_000) {
            if state.line.ns_within_window(ticks).is_none() {
                state = drawn(&state, clock.pair(ticks));
            }
            let ns = state.line.ns_within_window(ticks).unwrap();
            assert!(ns >= before_ns, "{ppm} ppm: {ns} < {before_ns} at {ticks}");
            before_ns = ns;
            // An error accumulates until the end of the window; 0.3 s later it is gone.
            let error_ns = ns.abs_diff(clock.pair(ticks).ns);
            let is_followed = [clock.from, clock.until].iter().all(|at| !(*at..at + 300_000_000).contains(&ticks));
            assert!(error_ns <= if is_followed { 500 } else { 13_000_000 }, "{ppm} ppm: {error_ns} ns at {ticks}");
        }
    }
}

#[test]
fn a_suspend_while_the_clock_is_slewed_leaves_the_usual_lead() {
    let clock = Slewed { ppm: -83_333, from: 500_000_000, until: u64::MAX };
    let state = until(2_000_000_000, clock, clock.calibrated());
    let asleep = 60_000_000_000;
    let resumed = Pair { ticks: 2_000_000_000 + asleep, ..clock.pair(2_000_000_000) };
    let before_ns = state.line.latest_ns(2_000_000_000);
    let next = state.next(&readings(resumed, resumed.ticks, RESUMED));
    assert!(next.line.start.ns >= before_ns && next.line.start.ns - resumed.ns <= LEAD_MAX_NS + 1_000);
    assert_eq!(next.track.rate, state.track.rate);
    // If the suspend isn't known, the new line starts above everything that the old one can give.
    let next = state.next(&readings(resumed, resumed.ticks, AWAKE));
    assert_eq!(next.line.start.ns, state.line.end_ns());
}

#[test]
fn an_abandoned_line_ends_at_its_stated_end() {
    let clock = Slewed { ppm: -83_333, from: 1_050_000_000, until: u64::MAX };
    let state = until(1_050_000_000, clock, clock.calibrated());
    // The counter goes out of use in the middle of a window, and readers use the line until they notice.
    let grace_end = state.line.start.ticks + state.line.grace();
    assert!(state.line.end_ns() > state.line.ns_within_grace(grace_end).unwrap());
    assert_eq!(state.line.ns_within_grace(grace_end + 1), None);
    // With a short line before that, time stands still only for a moment.
    let short = drawn(&state, clock.pair(1_051_000_000)).for_a_moment();
    assert!(
        short.line.end_ns() - short.line.start.ns <= FIRST_WINDOW_NS + FIRST_WINDOW_NS / GRACE_DIVISOR + ROUNDING_NS
    );
    assert!(short.line.start.ns >= state.line.latest_ns(1_051_000_000));
}

proptest! {
    /// The kernel begins or stops slewing its clock at any moment of a window, and the thread that draws the next line
    /// is delayed. The others see no step back, provided that overdue times are kept in order, as `state` does.
    #[test]
    fn an_overdue_line_keeps_the_order(
        ppm in -110_000_i64..=110_000,
        steps in 0_u64..12,
        from in 0_u64..2_000,
        late in 0_u64..=1_000,
        later in 0_u64..=1_000,
        publishing in 0_u64..=1_000,
    ) {
        let steady = Slewed { ppm: 0, from: 0, until: 0 };
        let mut state = steady.calibrated();
        for _ in 0..steps {
            state = drawn(&state, steady.pair(state.line.start.ticks + state.line.window + 1));
        }
        let line = state.line;
        let clock = Slewed { ppm, from: line.start.ticks + line.window * from / 1_000, until: u64::MAX };
        let closing = line.start.ticks + line.window + 1;
        let next = drawn(&state, clock.pair(closing)).line;
        let grace_end = line.start.ticks + line.grace();
        let overdue_ns = |at: u64| {
            let pair = clock.pair(grace_end + 1 + line.window * at / 1_000);
            (pair.ticks, state.overdue_ns(pair.ticks, pair.ns, AWAKE))
        };
        let mut given = [overdue_ns(late.min(later)), overdue_ns(late.max(later))];
        given[1].1 = given[1].1.max(given[0].1);
        for (ticks, ns) in given {
            prop_assert!(ns >= line.ns_within_grace(grace_end).unwrap());
            let published = ticks + line.window * publishing / 1_000;
            if let Some(next_ns) = next.ns_within_grace(published) {
                prop_assert!(next_ns >= ns, "{next_ns} < {ns}");
            }
        }
    }
}
