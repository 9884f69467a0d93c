//! The servo with modelled counters: exact, and without real time.

use proptest::prelude::*;

use super::super::watch::{self, Sight};
use super::*;

/// The machine's suspended time, before and after a suspend of an hour.
const AWAKE: u64 = 77;
const RESUMED: u64 = AWAKE + 3_600_000_000_000;

/// Readings of a clock that nobody adjusts.
pub(super) fn readings(pair: Pair, closing: u64, suspended_ns: u64) -> Readings {
    Readings { pair, steady: pair, width: 0, closing, suspended_ns, cpu: 0 }
}

/// A counter of `hz` that starts at `offset`, and an operating system's clock that starts at `epoch_ns`.
struct Model {
    hz: u64,
    offset: u64,
    epoch_ns: u64,
}

impl Model {
    fn pair(&self, ns: u64) -> Pair {
        let ticks = u128::from(ns) * u128::from(self.hz) / 1_000_000_000;
        Pair { ticks: self.offset.wrapping_add(ticks as u64), ns: self.epoch_ns + ns }
    }

    fn calibrated(&self) -> State {
        let at = |ns| readings(self.pair(ns), self.pair(ns).ticks, AWAKE);
        State::calibrated(&at(0), &at(250_000)).unwrap()
    }

    /// The state after this many lines, each drawn just after the previous window ended, and the time of the last.
    fn after(&self, lines: usize) -> (State, u64) {
        let (mut state, mut now_ns) = (self.calibrated(), 250_000);
        for _ in 0..lines {
            (state, now_ns) = self.drawn_after(&state, now_ns);
        }
        (state, now_ns)
    }

    fn drawn_after(&self, state: &State, now_ns: u64) -> (State, u64) {
        let now_ns = now_ns + state.track.rate.saturating_ns(state.line.window) + 1_000;
        let pair = self.pair(now_ns);
        (state.next(&readings(pair, pair.ticks, AWAKE)), now_ns)
    }
}

fn read(state: &State, ticks: u64) -> u64 {
    state.line.ns_within_grace(ticks).expect("within the grace")
}

#[test]
fn a_window_refuses_readings_outside() {
    let state = Model { hz: 1_000_000_000, offset: 10_000_000, epoch_ns: 0 }.calibrated();
    let start = state.line.start;
    assert_eq!(state.line.ns_within_window(start.ticks), Some(start.ns));
    assert_eq!(state.line.ns_within_window(start.ticks + FIRST_WINDOW_NS), Some(start.ns + FIRST_WINDOW_NS));
    assert_eq!(state.line.ns_within_window(start.ticks + FIRST_WINDOW_NS + 1), None);
    assert_eq!(state.line.ns_within_window(start.ticks - 1), None);
    assert_eq!(state.line.ns_within_grace(start.ticks - 1), Some(start.ns));
    assert_eq!(state.line.ns_within_grace(start.ticks + FIRST_WINDOW_NS * 2), None);
}

#[test]
fn windows_grow_and_stay_bounded() {
    let model = Model { hz: 2_600_000_000, offset: 7, epoch_ns: 50 };
    let (mut state, mut now_ns) = (model.calibrated(), 250_000);
    let mut windows_ns = Vec::new();
    for _ in 0..12 {
        (state, now_ns) = model.drawn_after(&state, now_ns);
        windows_ns.push(state.track.rate.saturating_ns(state.line.window));
    }
    assert!(windows_ns.is_sorted());
    assert!(windows_ns[11].abs_diff(LONGEST_WINDOW_NS) <= 1);
}

#[test]
fn time_goes_on_after_a_suspend() {
    let model = Model { hz: 1_000_000_000, offset: 0, epoch_ns: 0 };
    let state = model.calibrated();
    let before_ns = read(&state, state.line.start.ticks + 900_000);
    // The counter kept running through an hour of suspend; the operating system's clock stopped.
    let after = Pair { ticks: state.line.start.ticks + 3_600_000_000_000, ns: state.line.start.ns + 901_000 };
    let next = state.next(&readings(after, after.ticks, RESUMED));
    assert!(next.line.start.ns >= before_ns);
    assert!(next.line.start.ns - after.ns <= LEAD_MAX_NS);
    assert_eq!(next.track.rate, state.track.rate);
    // The lead is given up at one part in a thousand.
    let later = Pair { ticks: after.ticks + 1_000_000, ns: after.ns + 1_000_000 };
    let last = next.next(&readings(later, later.ticks, RESUMED));
    let lead_ns = |line: Line, now: Pair| line.start.ns - now.ns;
    assert_eq!(lead_ns(next.line, after) - lead_ns(last.line, later), 1_000 - ROUNDING_NS);
}

#[test]
fn the_lead_after_a_suspend_is_given_up_soon() {
    let state = Model { hz: 1_000_000_000, offset: 0, epoch_ns: 0 }.calibrated();
    let resumed = Pair { ticks: state.line.start.ticks + 3_600_000_000_000, ns: state.line.start.ns + 901_000 };
    let mut state = state.next(&readings(resumed, resumed.ticks, RESUMED));
    let mut elapsed_ns = 0;
    let mut lead_ns = state.line.start.ns - resumed.ns;
    while lead_ns > 0 && elapsed_ns < 1_000_000_000 {
        elapsed_ns += state.line.window + 1_000;
        let pair = Pair { ticks: resumed.ticks + elapsed_ns, ns: resumed.ns + elapsed_ns };
        state = state.next(&readings(pair, pair.ticks, RESUMED));
        lead_ns = state.line.start.ns - pair.ns;
    }
    assert!(elapsed_ns < 200_000_000, "{lead_ns} ns after {elapsed_ns} ns");
}

#[test]
fn a_coarse_counter_is_not_taken_for_an_unsteady_one() {
    // At 4 MHz the first rate is only accurate to a thousandth, and then comes a long pause.
    for hz in [3_000_031, 3_579_545, 4_126_522] {
        let model = Model { hz, offset: 0, epoch_ns: 0 };
        let pair = model.pair(170_577_305);
        let (state, sight) = (model.calibrated(), Sight { pair, width: 0, cpu: 0 });
        assert_eq!(watch::suspicion(&state, &sight), None, "{hz} Hz");
    }
}

#[test]
fn an_adjusted_rate_is_followed() {
    // The operating system's clock is slowed by 300 ppm; two baselines later the old rate has no influence.
    let mut state = Model { hz: 1_000_000_000, offset: 0, epoch_ns: 0 }.calibrated();
    let start = state.track.last;
    for step in 1..=100_u64 {
        let elapsed = step * 100_000_000;
        let pair = Pair { ticks: start.ticks + elapsed, ns: start.ns + elapsed - elapsed / 10_000 * 3 };
        state = state.next(&readings(pair, pair.ticks, AWAKE));
    }
    assert!(state.track.rate.hz().abs_diff(1_000_300_090) <= 1, "{}", state.track.rate.hz());
}

#[test]
fn a_suspend_hidden_in_a_long_pause_does_not_spoil_the_rate() {
    let state = Model { hz: 1_000_000_000, offset: 0, epoch_ns: 0 }.calibrated();
    // Nobody read the clock for an hour, in which the counter advanced by a second more than the operating system's
    // clock.
    let hour_ns = 3_600_000_000_000;
    let pair = Pair { ticks: state.track.last.ticks + hour_ns + 1_000_000_000, ns: state.track.last.ns + hour_ns };
    let next = state.next(&readings(pair, pair.ticks, AWAKE));
    assert_eq!((next.track.rate, next.line.start.ns), (state.track.rate, pair.ns));
}

#[test]
fn a_stopped_process_sees_the_time_it_missed() {
    let model = Model { hz: 2_000_000_000, offset: 1 << 40, epoch_ns: 1 << 50 };
    let state = model.calibrated();
    let pair = model.pair(2_000_250_000);
    let next = state.next(&readings(pair, pair.ticks, AWAKE));
    assert!(next.line.start.ns.abs_diff(pair.ns) <= 2);
}

#[test]
fn a_reset_counter_starts_again() {
    let model = Model { hz: 1_000_000_000, offset: 5_000_000_000, epoch_ns: 0 };
    let state = model.calibrated();
    let pair = Pair { ticks: 100, ns: state.line.start.ns + 4_000_000 };
    let next = state.next(&readings(pair, pair.ticks, AWAKE));
    assert!(next.line.start.ns >= state.line.latest_ns(u64::MAX / 4));
    assert!(next.line.start.ns - pair.ns <= LEAD_MAX_NS);
}

proptest! {
    /// Across any number of lines readers see no step back and only small errors, for every plausible counter, whatever
    /// the offsets (wraps included), the noise of the pairs, and the pauses between readings.
    #[test]
    fn time_never_goes_back_and_stays_exact(
        hz in 1_000_000_u64..10_000_000_000,
        offset: u64,
        epoch_ns in 0_u64..1 << 60,
        steps in proptest::collection::vec((1_u64..400_000_000, 0_u64..60, 0_u64..30_000), 1..80),
    ) {
        let model = Model { hz, offset, epoch_ns };
        let mut state = model.calibrated();
        let tick_ns = 1_000_000_000 / hz + 1;
        let (mut now_ns, mut latest_ns) = (250_000, 0);
        for (pause_ns, noise_ns, delay_ns) in steps {
            now_ns += pause_ns;
            let exact = model.pair(now_ns);
            if let Some(ns) = state.line.ns_within_grace(exact.ticks) {
                prop_assert!(ns >= latest_ns, "{ns} < {latest_ns} on the old line");
                latest_ns = ns;
            }
            if state.line.ns_within_window(exact.ticks).is_some() {
                continue;
            }
            // The pair is slightly off, and the writer is delayed after it; readers use the old line until the
            // exchange.
            let pair = Pair { ns: exact.ns + noise_ns, ..exact };
            now_ns += delay_ns;
            let closing = model.pair(now_ns).ticks;
            if let Some(ns) = state.line.ns_within_grace(closing) {
                latest_ns = latest_ns.max(ns);
            }
            state = state.next(&readings(pair, closing, AWAKE));
            let ns = read(&state, closing);
            prop_assert!(ns >= latest_ns, "{ns} < {latest_ns} at the exchange");
            latest_ns = ns;
            let error_ns = ns.abs_diff(model.pair(now_ns).ns);
            // The noise, the error of the rate over a window and its grace, and the size of a tick.
            prop_assert!(error_ns <= 1_000 + 2 * tick_ns, "{error_ns}");
        }
    }

    /// A suspend of any length at any moment of a line: a reader that reads the line to its end sees no step back.
    #[test]
    fn a_suspend_of_any_length_is_no_step_back(
        length_ns in 0_u64..400_000_000,
        at in 0_u64..=1_000,
        read_until in 0_u64..=1_000,
        closing in 0_u64..=1_060,
    ) {
        let model = Model { hz: 1_000_000_000, offset: 0, epoch_ns: 1 << 40 };
        let (state, _) = model.after(9);
        let line = state.line;
        let at = line.window * at / 1_000;
        // After the suspend the counter is this far, and readers use what is left of the line.
        let resumed = at + length_ns;
        let until = resumed.max(line.window * read_until / 1_000);
        let latest_ns = [at, resumed, until].map(|since| state.line.ns_within_grace(line.start.ticks + since));
        let closing = until.max(line.window * closing / 1_000);
        let now = Pair { ticks: line.start.ticks + closing, ns: line.start.ns + closing - length_ns };
        let next = state.next(&readings(now, now.ticks, AWAKE + length_ns));
        prop_assert!(next.line.start.ns >= latest_ns.into_iter().flatten().max().unwrap());
        // After a long one, no reader got the times that the line would give.
        let lead_ns = next.line.start.ns - now.ns;
        prop_assert!(length_ns < 150_000_000 || lead_ns <= LEAD_MAX_NS + 10, "{lead_ns}");
    }

    /// Until the old line ends, the new one is never below it, however long its writer is delayed, even while a lead is
    /// given up.
    #[test]
    fn the_new_line_is_above_the_old_one(
        hz in 1_000_000_u64..10_000_000_000,
        noise_ns in -900_i64..900,
        lead_ns in 0_u64..90_000,
        steps in 0_usize..9,
        closing in 0_u64..=1_000,
        until in 0_u64..=1_000,
    ) {
        let model = Model { hz, offset: 0, epoch_ns: 1 << 40 };
        let (mut state, _) = model.after(steps);
        state.line.start.ns += lead_ns;
        let rest = state.line.grace() - state.line.window;
        let closing = state.line.start.ticks + state.line.window + rest * closing / 1_000;
        let exact_ns = (u128::from(closing) * 1_000_000_000 / u128::from(hz)) as u64 - 300;
        let exact = model.pair(exact_ns);
        let next = state.next(&readings(Pair { ns: exact.ns.saturating_add_signed(noise_ns), ..exact }, closing, AWAKE));
        let end = state.line.start.ticks + state.line.grace();
        for ticks in [closing + (end - closing) * until / 1_000, end] {
            prop_assert!(read(&next, ticks) >= state.line.ns_within_grace(ticks).unwrap());
        }
        prop_assert!(read(&next, end) > read(&state, end));
    }

    /// The thread that draws the next line is delayed by up to its window before it publishes it. Meanwhile the others
    /// read the operating system's clock, whose rate the kernel adjusts, and still see no step back.
    #[test]
    fn an_overdue_line_keeps_the_order(
        hz in 1_000_000_u64..10_000_000_000,
        adjusted_ppm in -500_i64..=500,
        lead_ns in 0_u64..20_000,
        steps in 0_usize..9,
        late in 0_u64..=1_000,
    ) {
        let model = Model { hz, offset: 0, epoch_ns: 1 << 40 };
        let (mut state, now_ns) = model.after(steps);
        state.line.start.ns += lead_ns;
        let adjusted = |since_ns: u64| {
            let exact = model.pair(now_ns + since_ns);
            Pair { ns: exact.ns.saturating_add_signed(since_ns as i64 * adjusted_ppm / 1_000_000), ..exact }
        };
        let window_ns = state.track.rate.saturating_ns(state.line.window);
        let pair = adjusted(window_ns + 1_000);
        let next = state.next(&readings(pair, pair.ticks, AWAKE));
        let grace_end = state.line.start.ticks + state.line.grace();
        let now = adjusted(window_ns + window_ns / GRACE_DIVISOR + 2_000 + window_ns / 1_000 * late);
        prop_assert!(now.ticks > grace_end);
        let overdue_ns = state.overdue_ns(now.ticks, now.ns, AWAKE);
        prop_assert!(overdue_ns >= read(&state, grace_end));
        let caution_ns = if lead_ns == 0 && steps > 4 { CAUTION_NS + LONGEST_WINDOW_NS / 1_000 } else { SLEWED_CAUTION_NS };
        prop_assert!(overdue_ns >= now.ns - caution_ns);
        if let Some(ns) = next.line.ns_within_grace(now.ticks) {
            prop_assert!(ns >= overdue_ns, "{ns} < {overdue_ns}");
        }
    }
}
