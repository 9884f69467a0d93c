//! Which coarse clocks follow the setting that a neighbour holds. A clock may only seem to: a thread that loses its CPU
//! sees several of a clock's steps at once.

use oversleep_explain::verdicts::step_in_words;
use oversleep_record::conditions::HeldSettings;
use oversleep_record::series::Quantity;
use oversleep_record::{ExperimentId, FactName, Nanos, Os, ResultFile, Series, label};

use super::neighbour_steps::{neighbour, of_step, steps};
use crate::view::head;
use crate::view::select::distinct;
use crate::words::list;

/// A coarse clock follows the held setting if its steps differ by more than this: a clock of whole milliseconds on a
/// tick of 15.625 ms moves by 15 or 16, and the smallest of a few steps may be either.
const FOLLOWS_FROM_NS: i64 = 1_500_000;

/// How a clock reacts to a neighbour's setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It moves by the period that is in effect.
    Follows,
    /// It moves by its own step whatever is held.
    Keeps,
    /// Inconclusive: the steps fit neither.
    Unclear,
}

/// The step of a coarse clock beside one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The smallest seen.
    pub ns: i64,
    /// Whether it consists of several of the clock's steps, because the thread didn't read the clock in between.
    pub is_several: bool,
}

/// The steps of one clock in C3 and C4, a row each for what neighbours held.
struct Rows {
    rows: Vec<Row>,
    /// The step the system states, where no neighbour can change it.
    stated: Option<i64>,
    is_shared: bool,
}

struct Row {
    /// The period in effect: what the system stated meanwhile, else what was granted or held.
    period: Option<i64>,
    step: i64,
}

/// Whether a setting of one process can affect the timers and clocks of another here. A timer resolution of Windows
/// can; slack and tiers belong to threads, and Wine uses its host's clocks.
pub fn is_shared(file: &ResultFile) -> bool {
    file.platform.is(Os::Windows) && head::wine(file).is_none()
}

/// Every coarse clock whose steps were observed, in the registry's order.
pub fn coarse_clocks(file: &ResultFile, experiment: ExperimentId) -> Vec<&str> {
    let steps = file.experiment(experiment).filter(|series| series.quantity == Quantity::Step);
    distinct(steps.map(|series| series.subject.as_str()))
}

/// The coarse clock that is drawn, and shown first: one that follows, else the first one.
pub fn telling(file: &ResultFile, experiment: ExperimentId) -> Option<&str> {
    let clocks = coarse_clocks(file, experiment);
    let follows = clocks.iter().find(|clock| standing(file, clock) == Standing::Follows);
    follows.or(clocks.first()).copied()
}

/// The coarse clocks in the order shown: the telling one first, then one that behaves otherwise, then the others.
pub fn by_interest(file: &ResultFile, experiment: ExperimentId) -> Vec<&str> {
    let mut clocks = coarse_clocks(file, experiment);
    if let Some(telling) = telling(file, experiment) {
        let of_telling = standing(file, telling);
        clocks.sort_by_key(|clock| match (*clock == telling, standing(file, clock) != of_telling) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        });
    }
    clocks
}

/// Which coarse clocks followed a neighbour's setting, and which kept their step.
pub fn reached(file: &ResultFile) -> Option<String> {
    let all = coarse_clocks(file, ExperimentId::C3);
    let with = |wanted| all.iter().filter(|clock| standing(file, clock) == wanted).copied().collect::<Vec<_>>();
    let (follow, keep) = (with(Standing::Follows), with(Standing::Keeps));
    (!follow.is_empty()).then(|| {
        let kept = if keep.is_empty() { String::new() } else { format!("; that of {} did not", list(&keep)) };
        format!("The step of {} followed the neighbour's setting{kept}.", list(&follow))
    })
}

pub(crate) fn standing(file: &ResultFile, clock: &str) -> Standing {
    Rows::of(file, clock).standing()
}

/// The clock's step beside one setting, in words.
pub fn step_text(file: &ResultFile, experiment: ExperimentId, held: &HeldSettings, clock: &str) -> Option<String> {
    let step = step(file, experiment, held, clock)?;
    let tick = match standing(file, clock) {
        Standing::Follows => period(file, experiment, held).map(Nanos),
        Standing::Keeps | Standing::Unclear => file.environment.nanos(FactName::TimerPeriodDefault),
    };
    // A clock of whole milliseconds moves by one less now and then, if its tick is a bit shorter: 1 ms among steps of 2.
    let usual = of_clock(file, experiment, held, clock)?.distribution.p50();
    let far = |ns: i64| tick.map(|tick| (ns - tick.0).abs());
    let seen = usual.filter(|&usual| far(usual) < far(step.ns)).unwrap_or(step.ns);
    // Several steps together are an upper bound of the step.
    let text = step_in_words(Nanos(seen), tick);
    Some(if step.is_several { format!("≤ {text}") } else { text })
}

/// The clock's step beside one setting.
pub fn step(file: &ResultFile, experiment: ExperimentId, held: &HeldSettings, clock: &str) -> Option<Step> {
    let ns = least_step(of_clock(file, experiment, held, clock)?)?;
    let expected = Rows::of(file, clock).expected(period(file, experiment, held));
    // More than half a step above one step is nearer to two.
    Some(Step { ns, is_several: expected.is_some_and(|expected| ns.saturating_mul(2) > expected.saturating_mul(3)) })
}

fn of_clock<'a>(
    file: &'a ResultFile,
    experiment: ExperimentId,
    held: &HeldSettings,
    clock: &str,
) -> Option<&'a Series> {
    of_step(file, experiment, held, Quantity::Step).find(|series| series.subject == clock)
}

/// The smallest step, since a thread that loses its CPU sees several at once.
fn least_step(series: &Series) -> Option<i64> {
    series.distribution.min().filter(|&least| least > 0).or_else(|| series.distribution.p50())
}

fn period(file: &ResultFile, experiment: ExperimentId, held: &HeldSettings) -> Option<i64> {
    let stated = of_step(file, experiment, held, Quantity::StatedResolution).next();
    let granted = || {
        let mut beside = file.experiment(experiment).filter(|series| neighbour(series).as_ref() == Some(held));
        let granted = beside.find_map(|series| series.label(label::GRANTED)).unwrap_or_else(|| held.clone());
        granted.shortest().map(|span| span.0)
    };
    stated.and_then(|series| series.distribution.p50()).or_else(granted)
}

impl Rows {
    fn of(file: &ResultFile, clock: &str) -> Rows {
        let mut rows = Vec::new();
        for experiment in [ExperimentId::C3, ExperimentId::C4] {
            for held in steps(file, experiment) {
                let least = of_clock(file, experiment, &held, clock).and_then(least_step);
                rows.extend(least.map(|step| Row { period: period(file, experiment, &held), step }));
            }
        }
        let is_shared = is_shared(file);
        let stated = file.environment.nanos(FactName::TimerCoarseStep).map(|step| step.0).filter(|_| !is_shared);
        Rows { rows, stated, is_shared }
    }

    /// The shortest step of all, which is the clock's own unless it was never seen alone.
    fn base(&self) -> Option<i64> {
        self.rows.iter().map(|row| row.step).chain(self.stated).min()
    }

    fn standing(&self) -> Standing {
        if !self.is_shared {
            return Standing::Keeps;
        }
        let known = || self.rows.iter().filter_map(|row| Some((row.period?, row.step)));
        let (Some((finest, beside_finest)), Some((coarsest, _)), Some(base)) =
            (known().min(), known().max(), self.base())
        else {
            return Standing::Unclear;
        };
        if coarsest - finest <= FOLLOWS_FROM_NS {
            return Standing::Keeps;
        }
        // A clock that follows moves by the finest period; beside others the thread may have seen several of its steps
        // together.
        if beside_finest - finest <= FOLLOWS_FROM_NS && known().all(|(period, step)| period - step <= FOLLOWS_FROM_NS) {
            return Standing::Follows;
        }
        let is_whole = |step: i64| ((step + base / 2) / base * base - step).abs() <= FOLLOWS_FROM_NS;
        if base - finest > FOLLOWS_FROM_NS && self.rows.iter().all(|row| is_whole(row.step)) {
            Standing::Keeps
        } else {
            Standing::Unclear
        }
    }

    /// The clock's step while that period is in effect; `None` if it is inconclusive.
    fn expected(&self, period: Option<i64>) -> Option<i64> {
        match self.standing() {
            // A clock of whole milliseconds may move by one more than the period.
            Standing::Follows => period.map(|period| period + FOLLOWS_FROM_NS),
            Standing::Keeps => self.base(),
            Standing::Unclear => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Distribution;
    use oversleep_record::testing::Sheet;

    use super::*;

    const MS: i64 = 1_000_000;

    fn held(settings: &str) -> HeldSettings {
        settings.parse().expect("settings")
    }

    /// C3 with the step of a clock beside each setting, and the period stated meanwhile.
    fn moved(mut sheet: Sheet, clock: &str, rows: &[(&str, i64, i64)]) -> Sheet {
        for &(held, step, stated) in rows {
            sheet = sheet
                .steady(format!("C3/{clock}/step/neighbour={held}"), step)
                .steady(format!("C3/resolution/stated/neighbour={held}"), stated);
        }
        sheet
    }

    #[test]
    fn slack_moves_no_clock_whatever_was_seen_between_looks() {
        let rows = [("none", 4, 0), ("1ns", 8, 0), ("50us", 4, 0), ("1ms", 8, 0), ("5ms", 4, 0), ("9ms", 12, 0)];
        let rows = rows.map(|(held, step, stated)| (held, step * MS, stated));
        let file = moved(Sheet::linux(), "monotonic-coarse", &rows).file;
        assert_eq!(reached(&file), None);
        let several = |text| step(&file, ExperimentId::C3, &held(text), "monotonic-coarse").map(|step| step.is_several);
        assert_eq!(["none", "1ns", "50us", "9ms"].map(several), [false, true, false, true].map(Some));
        let stated =
            |step| moved(Sheet::linux().span(FactName::TimerCoarseStep, step), "monotonic-coarse", &rows[1..2]).file;
        let is_several = |file: &ResultFile| {
            step(file, ExperimentId::C3, &held("1ns"), "monotonic-coarse").map(|step| step.is_several)
        };
        assert_eq!([4 * MS, 10 * MS].map(|step| is_several(&stated(step))), [Some(true), Some(false)]);
        // Its steps are in the same order as those of a clock that follows, by chance.
        let sorted = [("1ms", 4 * MS, 0), ("8ms", 8 * MS, 0), ("none", 12 * MS, 0)];
        assert_eq!(reached(&moved(Sheet::linux(), "monotonic-coarse", &sorted).file), None);
    }

    #[test]
    fn a_tick_seen_twice_at_once_is_not_a_period_followed() {
        let rows = [("none", 31, 15), ("1ms", 16, 1), ("2ms", 31, 2), ("8ms", 15, 8)];
        let rows = rows.map(|(held, step, stated)| (held, step * MS, stated * MS));
        let sheet = moved(Sheet::windows(), "get-tick-count-64", &rows);
        assert_eq!(standing(&sheet.file, "get-tick-count-64"), Standing::Keeps);
        let follows = rows.map(|(held, _, stated)| (held, stated * if held == "2ms" { 3 } else { 1 }, stated));
        let file = moved(sheet, "system-time", &follows).file;
        let says = "The step of system-time followed the neighbour's setting; that of get-tick-count-64 did not.";
        assert_eq!(reached(&file).as_deref(), Some(says));
        assert_eq!(by_interest(&file, ExperimentId::C3), ["system-time", "get-tick-count-64"]);
        let several = |clock| step(&file, ExperimentId::C3, &held("2ms"), clock).map(|step| step.is_several);
        assert_eq!((several("system-time"), several("get-tick-count-64")), (Some(true), Some(true)));
    }

    #[test]
    fn one_shorter_step_of_a_rounding_clock_is_not_its_step() {
        let rows = [("none", 15 * MS, 15 * MS), ("1ms", MS, MS), ("2ms", 2 * MS, 1_994_600)];
        let mut file = moved(Sheet::windows(), "time-get-time", &rows).file;
        let key = "C3/time-get-time/step/neighbour=2ms";
        let series = file.series.iter_mut().find(|series| series.key == key).expect("it is there");
        series.distribution = Distribution::of_counts([(MS, 1), (2 * MS, 20)]);
        let text = |held_by| step_text(&file, ExperimentId::C3, &held(held_by), "time-get-time");
        assert_eq!(text("2ms").as_deref(), Some("2 ms"));
    }

    #[test]
    fn where_the_period_did_not_change_nothing_followed() {
        let rows = [("none", 10 * MS, MS), ("1ms", 1, MS), ("2ms", 2 * MS, MS)];
        let file = moved(Sheet::windows(), "system-time", &rows).file;
        assert_eq!(standing(&file, "system-time"), Standing::Keeps);
        let changing = [("none", 15, 15), ("1ms", 1, 1)].map(|(held, step, stated)| (held, step * MS, stated * MS));
        let wine = moved(Sheet::windows().text(FactName::OsWineVersion, "8.0"), "system-time", &changing).file;
        assert_eq!(reached(&wine), None, "Wine answers with its host's clocks");
    }

    #[test]
    fn steps_that_fit_neither_are_inconclusive() {
        let rows = [("none", 15, 15), ("1ms", 6, 1), ("2ms", 11, 2), ("8ms", 8, 8)];
        let rows = rows.map(|(held, step, stated)| (held, step * MS, stated * MS));
        let file = moved(Sheet::windows(), "clock", &rows).file;
        assert_eq!(standing(&file, "clock"), Standing::Unclear);
        assert_eq!(step(&file, ExperimentId::C3, &held("2ms"), "clock"), Some(Step { ns: 11 * MS, is_several: false }));
    }

    #[test]
    fn without_a_statement_what_was_granted_counts() {
        let mut sheet = Sheet::windows();
        for (held, step) in [("none", 15), ("4ms", 4), ("2ms+4ms", 2)] {
            sheet = sheet.steady(format!("C4/system-time/step/neighbour={held}"), step * MS);
        }
        assert_eq!(period(&sheet.file, ExperimentId::C4, &held("2ms+4ms")), Some(2 * MS));
        assert_eq!(standing(&sheet.file, "system-time"), Standing::Follows);
    }
}
