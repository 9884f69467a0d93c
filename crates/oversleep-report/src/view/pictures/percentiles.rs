//! The lateness of every wait by percentile (B5).

use oversleep_record::{Distribution, ExperimentId, FactName, Nanos, ResultFile, Series};

use super::{Drawing, Entry, us};
use crate::picture::{Distribution as Curve, PercentileSeries, Percentiles};
use crate::view::select::{common_request, measured};

pub const ENTRY: Entry =
    Entry { name: "percentiles", experiment: Some(ExperimentId::B5), draw: |file| drawing(file).into_iter().collect() };

/// A curve ends at the share that has at least this many values beyond it.
const BEYOND_MIN: f64 = 10.0;
/// Points a curve is sampled at.
const POINTS: usize = 96;
/// Shortest timer slack by which waits are coloured.
const SLACK_MIN: Nanos = Nanos(5_000);
/// The most waits with a colour each.
const COLOURS_MAX: usize = 8;

fn drawing(file: &ResultFile) -> Option<Drawing<'_>> {
    let request = common_request(measured(file, ExperimentId::B5))?;
    let waits: Vec<&Series> =
        measured(file, ExperimentId::B5).filter(|series| series.requested_ns == Some(request)).collect();
    // Of many waits the colours show which end within the slack.
    let slack =
        file.environment.nanos(FactName::TimerSlack).filter(|&slack| slack >= SLACK_MIN && waits.len() > COLOURS_MAX);
    let families = slack.map_or_else(Vec::new, |slack| {
        vec![format!("median later than the timer slack of {slack}"), "median within the timer slack".to_owned()]
    });
    let family = |series: &Series, index: usize| match slack {
        Some(slack) => usize::from(series.distribution.p50().is_some_and(|p50| p50 < slack.0)),
        None => index,
    };
    let curve = |(index, series): (usize, &&Series)| {
        let lateness = curve(&series.distribution)?;
        Some(PercentileSeries { label: series.subject.clone(), family: family(series, index), lateness })
    };
    let series: Vec<PercentileSeries> = waits.iter().enumerate().filter_map(curve).collect();
    let heading = format!("Lateness of waits of {request} by percentile");
    (!series.is_empty()).then(|| {
        Drawing::new(heading, "A curve ends where fewer than ten values lie beyond it.", move |frame| Percentiles {
            frame,
            families,
            series,
        })
    })
}

/// A distribution as far as its values carry: p99.9 of ten thousand, p90 of a hundred.
fn curve(distribution: &Distribution) -> Option<Curve> {
    let count = distribution.count();
    let highest = 1.0 - BEYOND_MIN / count.max(1) as f64;
    if highest < 0.5 {
        return None;
    }
    let nines = -(1.0 - highest).log10();
    let mut shares: Vec<f64> =
        (0..POINTS).map(|index| 1.0 - 10f64.powf(-nines * index as f64 / (POINTS - 1) as f64)).collect();
    shares.extend([0.5, 0.9, 0.99, 0.999, 0.9999].into_iter().filter(|&share| share <= highest + 1e-12));
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let points =
        shares.into_iter().filter_map(|share| Some((share.max(0.0), us(distribution.quantile(share)?)))).collect();
    Some(Curve { count, early_count: distribution.early_count(), points })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_and_a_table_give_the_same_quantile() {
        for count in (100..3_000).step_by(37) {
            let mut distribution = Distribution::new();
            (1..=count).for_each(|value| distribution.record(19_000 + value * value));
            let curve = curve(&distribution).unwrap();
            for share in [0.5, 0.9] {
                assert_eq!(curve.at(share), distribution.quantile(share).map(us), "{share} of {count}");
            }
        }
    }

    #[test]
    fn curves_end_where_the_values_do() {
        let mut distribution = Distribution::new();
        (1..=1_000).for_each(|value| distribution.record(value * 1_000));
        let points = curve(&distribution).unwrap().points;
        assert!((points.last().unwrap().0 - 0.99).abs() < 1e-9, "{points:?}");
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        let mut few = Distribution::new();
        (0..19).for_each(|value| few.record(value));
        assert_eq!(curve(&few), None);
    }
}
