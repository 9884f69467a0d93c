//! Both figures of the rule are found again from made-up runs.

use super::*;
use crate::testing::Sheet;

/// Runs of 4 M/s at most, with an effective Q of this share.
fn sheet(share: f64, grids: &[(&str, i64)], queues: &[u64], noise: &[f64]) -> Sheet {
    let mut sheet = Sheet::linux();
    let mut noise = noise.iter().cycle();
    for (grid, park) in grids {
        for queue in queues {
            let by_parks = share * *queue as f64 / (*park as f64 / 1e9);
            let rate = by_parks.min(4e6) * noise.next().copied().unwrap_or(1.0);
            sheet = sheet.steady(format!("E2/jet{grid}/queue={queue}"), rate as i64).idling(1.5, 1_000, *park);
        }
    }
    sheet
}

const GRIDS: [(&str, i64); 3] = [("", 60_000), ("/grid=1ms", 1_060_000), ("/grid=15.625ms", 15_690_000)];

#[test]
fn both_figures_are_found_again() {
    let sheet = sheet(0.7, &GRIDS, &[64, 256, 1_024, 4_096], &[1.0]);
    let runs = runs(&sheet.file);
    assert_eq!(runs.len(), 12);
    let rule = fit(&runs).expect("it fits");
    let (rate, share) = (rule.cpu_rate.unwrap(), rule.queue_share.unwrap());
    assert!((rate / 4e6 - 1.0).abs() < 0.001 && (share / 0.7 - 1.0).abs() < 0.001, "{rule:?}");
    assert!(rule.residual(&runs).unwrap().worst < 1.001);
    let (held, _, left) = held_out(&runs).expect("both limits are seen");
    assert!((held.queue_share.unwrap() - 0.7).abs() < 0.001 && left.worst < 1.001, "{held:?} {left:?}");
}

#[test]
fn a_queue_may_have_an_effective_q_of_its_own() {
    // A short queue passes more of itself in a park than a long one does.
    let mut sheet = Sheet::linux();
    for (grid, park) in GRIDS {
        for (queue, share) in [(64, 0.9), (1_024, 0.5), (16_384, 0.5)] {
            let by_parks = share * f64::from(queue) / (park as f64 / 1e9);
            let key = format!("E2/jet{grid}/queue={queue}");
            sheet = sheet.steady(key, by_parks.min(4e6) as i64).idling(1.5, 1_000, park);
        }
    }
    let runs = runs(&sheet.file);
    let (_, _, left) = held_out(&runs).expect("both limits are seen");
    assert!(left.worst > 1.7, "{left:?}");
    let by_queue = held_out_by_queue(&runs);
    assert_eq!(by_queue.iter().map(|(queue, _)| *queue).collect::<Vec<_>>(), [64, 1_024, 16_384]);
    assert!(by_queue.iter().all(|(_, worst)| *worst < 1.001), "{by_queue:?}");
}

#[test]
fn parks_in_vain_pass_nothing() {
    // Which side wakes first is chance: a queue passes in each park of one run, in every second one of another.
    let mut sheet = Sheet::linux();
    for ((grid, park), vain) in GRIDS.into_iter().zip([0, 300, 500]) {
        for queue in [64, 1_024, 16_384] {
            let by_parks = (1.0 - vain as f64 / 1_000.0) * f64::from(queue) / (park as f64 / 1e9);
            let key = format!("E2/jet{grid}/queue={queue}");
            sheet = sheet.steady(key, by_parks.min(4e6) as i64).idling(1.5, 1_000, park);
            let idling = sheet.file.series.last_mut().and_then(|series| series.idling.as_mut());
            idling.expect("it was just added").vain_parks = Some(vain);
        }
    }
    let runs = runs(&sheet.file);
    let (rule, _, left) = held_out(&runs).expect("both limits are seen");
    assert!((rule.queue_share.unwrap() - 1.0).abs() < 0.001 && left.worst < 1.001, "{rule:?} {left:?}");
}

#[test]
fn the_knee_is_not_judged() {
    let mut sheet = sheet(1.0, &GRIDS, &[64, 1_024, 16_384], &[1.0]);
    // 240 items take as long as a park of 60 µs, so each turn takes twice that.
    sheet = sheet.steady("E2/jet/queue=240", 2_000_000).idling(1.5, 1_000, 60_000);
    let runs = runs(&sheet.file);
    let (rule, _, left) = held_out(&runs).expect("both limits are seen");
    assert!(left.worst < 1.001, "{left:?}");
    assert_eq!(runs.iter().filter(|run| rule.is_at_knee(run)).map(|run| run.queue).collect::<Vec<_>>(), [240]);
}

#[test]
fn noise_is_left_over_and_moves_the_figures_little() {
    let sheet = sheet(1.0, &GRIDS, &[64, 256, 1_024, 4_096], &[0.9, 1.1, 1.05, 0.8, 1.2]);
    let rule = fit(&runs(&sheet.file)).expect("it fits");
    assert!((rule.cpu_rate.unwrap() / 4e6 - 1.0).abs() < 0.15, "{rule:?}");
    assert!((rule.queue_share.unwrap() - 1.0).abs() < 0.15, "{rule:?}");
    let left = rule.residual(&runs(&sheet.file)).unwrap();
    assert!(left.median > 1.01 && left.worst < 1.35, "{left:?}");
}

#[test]
fn a_residual_is_said_in_whole_percent() {
    assert_eq!([1.0, 1.000_05, 1.2005, 2.5].map(off_in_words), ["1 %", "1 %", "21 %", "150 %"]);
}

#[test]
fn chance_alone_shows_no_second_limit() {
    // As on a modelled Windows: a queue passes in one tick or in two.
    let sheet = sheet(0.67, &GRIDS[2..], &[64, 256, 1_024, 4_096], &[1.2, 0.75, 1.0, 0.87, 1.2, 1.0, 0.9, 1.15]);
    let rule = fit(&runs(&sheet.file)).expect("it fits");
    assert_eq!(rule.cpu_rate, None, "{rule:?}");
}

#[test]
fn a_limit_that_no_run_shows_is_unknown() {
    let parked = sheet(0.5, &GRIDS[2..], &[64, 256, 1_024], &[1.0]);
    let rule = fit(&runs(&parked.file)).expect("it fits");
    assert_eq!((rule.cpu_rate, rule.queue_share.map(|share| (share * 100.0).round())), (None, Some(50.0)));
    assert!(held_out(&runs(&parked.file)).is_none());
    let mut spinning = Sheet::linux();
    for queue in [64, 256, 1_024] {
        spinning = spinning.steady(format!("E2/custom/queue={queue}"), 4_000_000).idling(2.0, 0, 0);
    }
    let rule = fit(&runs(&spinning.file)).expect("it fits");
    assert_eq!(rule, ParkRule { cpu_rate: Some(4e6), queue_share: None });
    let parked = Run { park: Some(Nanos(1)), queue: 1, ..runs(&spinning.file)[0] };
    assert_eq!(rule.of(&parked), Some(4e6));
    assert_eq!(fit(&runs(&spinning.file)[..2]), None);
}
