//! Relations between answers that hold on every modelled machine, whatever its figures.

use oversleep_measure::{Limit, Plan, Silent, StopFlag, experiment};
use oversleep_record::conditions::{Conditions, Outcome, Setting};
use oversleep_record::series::Pace;
use oversleep_record::{CommandName, ExperimentId, Nanos};
use oversleep_system::{Reached, SlackRule, WaitInfo};

use super::MS;
use crate::ask::{Answer, Question, Subject, ask, setting};
use crate::machines::{load, names};
use crate::session::{Laboratory, Request};

/// What reading a clock, a call and the steps of the reference clock add to a wait or take from it.
const READS: f64 = 2_000.0;

fn on(name: &str, seed: u64) -> Laboratory {
    load(name, &[], seed).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn requested(lab: &Laboratory, wait: &str, request: Nanos, count: u64, change: impl FnOnce(&mut Question)) -> Answer {
    let mut question = Question::of(Subject::Wait { name: wait.to_owned(), request });
    (question.count, question.pace) = (count, Some(Pace::BackToBack));
    change(&mut question);
    ask(lab, &question).unwrap_or_else(|error| panic!("{wait} {request}: {error}"))
}

fn holding(name: &'static str, setting: Setting) -> impl Fn(&mut Question) {
    move |question| question.conditions = Conditions::as_found().with(name, setting.clone())
}

fn loaded(hogs: u32) -> impl Fn(&mut Question) {
    move |question| question.conditions = Conditions::as_found().with_load("spin", hogs)
}

/// The waits with a deadline that the machine has.
fn timed(lab: &Laboratory) -> Vec<WaitInfo> {
    let platform = &lab.platform;
    let all = platform.waits().iter().filter(|wait| wait.info().is_timed() && wait.open(platform).is_ok());
    all.map(|wait| wait.info().clone()).collect()
}

/// The machine's simplest sleep.
fn simplest(lab: &Laboratory) -> &'static str {
    if lab.platform.id().os == "windows" { "wait-for-single-object" } else { "nanosleep" }
}

/// The period of the timer interrupt as each machine states it; `None` where there is none.
fn tick(lab: &Laboratory) -> Option<Nanos> {
    match lab.platform.resolution_tunable()?.current() {
        Ok(Setting::Nanos(period)) if lab.platform.id().os == "windows" => Some(period),
        _ => None,
    }
}

/// Whether the rule of that wait says so.
fn says(lab: &Laboratory, wait: &str, what: &str) -> bool {
    lab.platform.wait(wait).and_then(|wait| wait.rule(MS)).is_some_and(|rule| rule.contains(what))
}

/// Whether waits of that machine count from the last tick, by the rule that it states.
fn counts_from_last_tick(lab: &Laboratory, wait: &str) -> bool {
    says(lab, wait, "early")
}

/// How early a wait may end where an interrupt that just misses its end may end it: the margin of windows-10-laptop.
fn near_miss(lab: &Laboratory, wait: &str) -> f64 {
    if says(lab, wait, "just misses") { 200_000.0 } else { 0.0 }
}

#[test]
fn quantiles_are_in_order_and_no_wait_is_early_but_those_whose_rule_says_so() {
    for name in names() {
        let lab = on(name, 1);
        for info in timed(&lab) {
            let answer = requested(&lab, info.name, MS, 40, |_| {});
            let quantiles = [0.0, 0.1, 0.5, 0.9, 0.99, 1.0].map(|share| answer.quantile_ns(share));
            assert!(quantiles.windows(2).all(|pair| pair[0] <= pair[1]), "{name} {}: {quantiles:?}", info.name);
            let (least, mean, most) = (answer.min_ns(), answer.mean_ns(), answer.max_ns());
            assert!(least <= mean + 1.0 && mean <= most + 1.0, "{name} {}: {least} {mean} {most}", info.name);
            let is_early = least < 1e6 - READS - near_miss(&lab, info.name);
            assert!(!is_early || counts_from_last_tick(&lab, info.name), "{name} {}: {least}", info.name);
        }
    }
}

#[test]
fn a_longer_request_is_never_over_sooner_and_two_waits_take_at_least_one_of_both() {
    for name in names() {
        let lab = on(name, 1);
        for info in timed(&lab).iter().filter(|info| info.slack != SlackRule::Tick) {
            let spans = [300, 1_000, 2_000, 4_000, 20_000, 40_000].map(Nanos::from_micros);
            let means = spans.map(|span| requested(&lab, info.name, span, 100, |_| {}).mean_ns());
            let (sooner, sums) = (means.windows(2), [(1, 2), (2, 3), (4, 5)]);
            for pair in sooner {
                // Near misses and wake-ups differ by chance.
                assert!(pair[1] >= pair[0] * 0.95 - 20_000.0, "{name} {}: {means:?}", info.name);
            }
            for (half, whole) in sums {
                assert!(means[half] * 2.0 >= means[whole] * 0.95 - 20_000.0, "{name} {}: {means:?}", info.name);
            }
        }
    }
}

#[test]
fn the_same_question_has_the_same_answer_whatever_the_count_and_nearly_so_whatever_the_seed() {
    for name in names() {
        let lab = on(name, 1);
        let wait = simplest(&lab);
        let many = requested(&lab, wait, Nanos::from_millis(5), 300, |_| {});
        assert_eq!(
            many.values_ns(),
            requested(&on(name, 1), wait, Nanos::from_millis(5), 300, |_| {}).values_ns(),
            "{name}"
        );
        let few = requested(&lab, wait, Nanos::from_millis(5), 100, |_| {}).mean_ns();
        let is_near = |other: f64| (other - many.mean_ns()).abs() <= many.mean_ns() * 0.04;
        assert!(is_near(few), "{name}: {few}, not {}", many.mean_ns());
        for seed in 2..6 {
            let other = requested(&on(name, seed), wait, Nanos::from_millis(5), 300, |_| {}).mean_ns();
            assert!(is_near(other), "{name} with seed {seed}: {other}, not {}", many.mean_ns());
        }
    }
}

#[test]
fn a_timer_without_slack_does_not_know_the_slack_and_less_slack_is_never_later() {
    for name in names() {
        let lab = on(name, 1);
        if lab.platform.tunable("slack").is_none() || lab.platform.tunable("policy").is_none() {
            continue;
        }
        for info in timed(&lab) {
            let mean =
                |slack: i64| requested(&on(name, 1), info.name, MS, 40, holding("slack", Setting::Nanos(Nanos(slack))));
            let [none, some, much] = [1, 50_000, 5_000_000].map(|slack| mean(slack).mean_ns());
            match info.slack {
                SlackRule::None => assert!(none == some && some == much, "{name} {}: {none} {some} {much}", info.name),
                _ => {
                    assert!(none <= some + READS && some <= much + READS, "{name} {}: {none} {some} {much}", info.name)
                }
            }
        }
    }
}

/// A real-time policy takes a thread's slack and puts it first in its queue.
#[test]
fn a_real_time_thread_is_never_later() {
    for name in names() {
        let lab = on(name, 1);
        let fifo = setting("fifo:80").unwrap();
        let takes =
            |policy: &Setting| lab.platform.tunable("policy").is_some_and(|known| known.validate(policy).is_ok());
        if lab.platform.id().os != "linux" || !takes(&fifo) {
            continue;
        }
        for hogs in [0, 2 * lab.platform.cpus().len() as u32] {
            let mean = |policy: &str| {
                let policy = setting(policy).unwrap();
                let change = |question: &mut Question| {
                    question.conditions = Conditions::as_found().with("policy", policy.clone());
                    if hogs > 0 {
                        question.conditions = question.conditions.clone().with_load("spin", hogs);
                    }
                };
                requested(&on(name, 1), "nanosleep", MS, 100, change).mean_ns()
            };
            let (fifo, other) = (mean("fifo:80"), mean("other:0"));
            assert!(fifo <= other + READS, "{name} beside {hogs}: {fifo}, not {other}");
        }
    }
}

/// As soon as every CPU is taken: before, hogs keep a CPU from idling, and the tick of a busy one ends a wait within its
/// slack.
#[test]
fn more_load_is_never_better() {
    for name in names() {
        let cpus = on(name, 1).platform.cpus().len() as u32;
        let wait = simplest(&on(name, 1));
        let quantiles = |hogs: u32| {
            let answer = requested(&on(name, 1), wait, MS, 400, loaded(hogs));
            [answer.quantile_ns(0.5), answer.mean_ns()]
        };
        let all = [cpus, cpus * 2, cpus * 4].map(quantiles);
        for pair in all.windows(2) {
            let worse = |at: usize| pair[1][at] >= pair[0][at] * 0.97;
            assert!((0..2).all(worse), "{name}, {cpus} CPUs: {all:?}");
        }
    }
}

#[test]
fn a_finer_resolution_is_never_later_and_its_clocks_step_by_it() {
    for name in names() {
        let lab = on(name, 1);
        let Some(default) = tick(&lab).filter(|_| name != "wine-8") else { continue };
        let spans = [1, 3, 10, 20, 50].map(Nanos::from_millis);
        // Each a multiple of the next, so that every tick of the coarser one is a tick of the finer.
        let periods = [8, 4, 2, 1].map(Nanos::from_millis);
        for span in spans {
            let mean =
                |held: Setting| requested(&on(name, 1), "sleep", span, 100, holding("resolution", held)).mean_ns();
            let means = periods.map(|period| mean(Setting::Nanos(period)));
            let found = requested(&on(name, 1), "sleep", span, 100, |_| {}).mean_ns();
            // Grants are shorter than the requests by up to a step of the timer's grid.
            let sooner = |pair: &[f64]| pair[1] <= pair[0] * 1.001 + READS;
            assert!(means.windows(2).all(sooner), "{name} {span}: {means:?}");
            assert!(means[3] <= found * 1.001 + 1e6, "{name} {span}: {} at 1 ms, {found} at {default}", means[3]);
        }
        for period in periods {
            let held = holding("resolution", Setting::Nanos(period));
            let of = |subject: &str| {
                let mut question = Question::of(subject.parse().unwrap());
                held(&mut question);
                ask(&on(name, 1), &question).map(|answer| answer.quantile_ns(0.5))
            };
            let stated = of("resolution()").unwrap();
            let steps = ["interrupt-time", "unbiased-interrupt-time", "system-time", "time-get-time"];
            for step in steps.iter().filter_map(|clock| of(&format!("step({clock})")).ok()) {
                assert!((step - stated).abs() <= 1e6 * 0.01 + 100.0, "{name} at {period}: {step}, not {stated}");
            }
        }
    }
}

/// Until 1909 and on servers of 2022 a request reaches every process; since 2004 only the one that made it.
#[test]
fn a_neighbours_request_is_one_s_own_or_no_better_by_version() {
    for name in names() {
        let lab = on(name, 1);
        let Some(_) = tick(&lab).filter(|_| name != "wine-8") else { continue };
        for period in [1, 2, 5, 10].map(Nanos::from_millis) {
            let own =
                requested(&on(name, 1), "sleep", MS, 200, holding("resolution", Setting::Nanos(period))).mean_ns();
            let beside = |question: &mut Question| question.neighbours = vec![Setting::Nanos(period)];
            let neighbour = requested(&on(name, 1), "sleep", MS, 200, beside).mean_ns();
            let rule = lab.platform.resolution_tunable().unwrap().reached();
            match rule == Reached::the_machine() {
                true => assert!((own - neighbour).abs() < 150_000.0, "{name} {period}: {own}, {neighbour}"),
                false => assert!(neighbour >= own - 150_000.0, "{name} {period}: {own}, {neighbour}"),
            }
        }
    }
}

/// Calls at any phase take from the request to a tick more, and half a tick more in the mean. Where a wait counts from
/// the last tick, whole ticks pass, less what had passed of the first.
#[test]
fn at_a_random_phase_a_wait_takes_up_to_a_tick_more() {
    for name in names() {
        let lab = on(name, 1);
        let Some(period) = tick(&lab).filter(|_| name != "wine-8") else { continue };
        let request = Nanos::from_millis(20);
        let phase = |question: &mut Question| question.pace = Some(Pace::RandomPhase);
        let answer = requested(&lab, "sleep", request, 2_000, phase);
        let from_last = counts_from_last_tick(&lab, "sleep");
        let least = if from_last { request.round_up_to(period) - period } else { request };
        let (least, most) = (least.0 as f64, (least + period).0 as f64);
        let (shortest, mean, longest) = (answer.min_ns(), answer.mean_ns(), answer.max_ns());
        assert!(
            shortest >= least - READS - near_miss(&lab, "sleep") && longest <= most + 50_000.0,
            "{name}: {shortest} to {longest}"
        );
        assert!((mean - (least + most) / 2.0).abs() < period.0 as f64 * 0.04, "{name}: {mean}");
    }
}

/// A program begins anywhere between two ticks, so its first wait takes anything from its span to a tick more.
#[test]
fn a_first_wait_begins_at_a_phase_of_its_seed() {
    let first = |seed: u64| requested(&on("windows-11", seed), "sleep", MS, 1, |_| {}).mean_ns() / 1e6;
    let took: Vec<f64> = (1..=200).map(first).collect();
    let mean = took.iter().sum::<f64>() / 200.0;
    assert!(took.iter().all(|ms| (1.0..16.7).contains(ms)), "{took:?}");
    // The standard error of 200 phases is 0.32 ms.
    assert!((7.8..9.8).contains(&mean), "{mean}");
}

/// Sleep(1) of a process without a request, beside one that holds 7 ms: one tick, two or three, two in the mean, and two is
/// not the most frequent. From 9 ms on each takes one.
#[test]
fn beside_a_neighbour_at_4_to_8_ms_waits_are_served_unevenly() {
    let ticks = |ms: i64| {
        let lab = on("windows-10-2004", 1);
        let held = Setting::Nanos(Nanos::from_millis(ms));
        let neighbour = lab.platform.neighbour(Some(&held)).unwrap();
        let Some(Outcome::Applied { now: Setting::Nanos(period), .. }) = neighbour.outcome() else { panic!("held") };
        let period = period.0 as f64;
        let answer = requested(&lab, "sleep", MS, 2_000, |_| {});
        let mut counts = [0; 5];
        answer.values_ns().iter().for_each(|took| counts[(took / period).round() as usize] += 1);
        (answer.mean_ns() / period, counts)
    };
    let (mean, [none, one, two, three, four]) = ticks(7);
    assert!((1.94..2.06).contains(&mean) && none + four <= 1, "{mean}: {none} {one} {two} {three} {four}");
    assert!(one > two && three > two && two > 400, "{one} {two} {three}");
    assert!(ticks(9).1[1] >= 1_999);
}

/// `waits` and `ask` are two ways to the same series.
#[test]
fn a_survey_of_one_wait_is_what_ask_says_of_it() {
    for name in names() {
        let wait = simplest(&on(name, 1));
        let plan = Plan {
            subjects: vec![wait.to_owned()],
            requests: vec![Nanos::from_millis(5)],
            pace: Some(Pace::BackToBack),
            limit: Some(Limit::Count(400)),
            ..Plan::default()
        };
        let request = Request {
            command: CommandName::Waits,
            experiments: vec![experiment(ExperimentId::B5).unwrap()],
            plan,
            name: None,
            try_remedies: false,
        };
        let file = on(name, 1).run(&request, &StopFlag::new(), &mut Silent).unwrap_or_else(|error| panic!("{error}"));
        let series = file.series.iter().find(|series| series.subject == wait).unwrap_or_else(|| panic!("{name}"));
        let surveyed = series.distribution.p50().unwrap() as f64 + 5e6;
        let answered = requested(&on(name, 1), wait, Nanos::from_millis(5), 400, |_| {}).quantile_ns(0.5);
        assert!((surveyed - answered).abs() <= answered * 0.01, "{name}: {surveyed}, not {answered}");
    }
}
