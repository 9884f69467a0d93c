//! The cost of a streaming engine's parks.

use oversleep_record::finding::Severity;
use oversleep_record::words::{grouped, percent};
use oversleep_record::{ExperimentId, ResultFile};

use crate::entry::{Checked, Conclusion, Scope};
use crate::figures::p50;
use crate::finding::{Check, FindingEntry};
use crate::read::{not_measured, sound};
use crate::remedies::runtimes::LOWER_ENGINE_PARK;
use crate::runtimes::engines::{EngineRun, runs};

/// The engine's own parks count as a cost if other parks are this many times as good.
const GAIN_MIN: f64 = 1.3;

pub(super) static FINDINGS: &[FindingEntry] = &[FindingEntry {
    id: "OVS-R008",
    name: "engine-parks",
    summary: "The parks of a streaming engine's threads cost latency, and throughput where a park takes a tick.",
    applies_to: "Hazelcast Jet, and other engines whose threads look for items in turn; worst on Windows",
    scope: Scope::Where(|file| file.experiment(ExperimentId::R5).next().is_some()),
    severity: Severity::Cost,
    meaning: "A thread of such an engine serves many stages. When none of them has anything to do, it parks, for 25 µs at first \
              in Hazelcast Jet and for 0.5 to 5 ms at last. An item that comes meanwhile waits for the end of the park, once \
              for each thread on its way. Where a park takes longer than a queue of items, it costs throughput: on Windows, \
              where a park takes a tick of 15.6 ms, a published pipeline passed 20 million items in 10 s, and 40 million \
              with a timer resolution of 1 ms (J. Hamala, 2019).",
    how_we_know: "oversleep runs a pipeline in the engine flat out and counts its items, and another one with an item each \
                  millisecond whose latency counts from when it was due, each with the engine's own parks and with parks of \
                  1 µs, in alternating processes.",
    what_to_do: "Lower the engine's parks where latency matters, and see what that takes of the CPU. On Windows, hold a timer \
                 resolution of 1 ms while the engine is busy.",
    sources: &[
        "https://hazelcast.com/blog/locksupport-parknanos-under-the-hood-and-the-curious-case-of-parking-part-ii-windows/",
    ],
    remedies: &[&LOWER_ENGINE_PARK],
    check: Check::Rule(engine_parks),
}];

/// `740 µs for 12.0 % of a CPU`, `1,020,000 items/s`.
fn figures_of(run: &EngineRun<'_>) -> String {
    let cpu = run.cores().map(|cores| format!(" for {} of a CPU", percent(cores))).unwrap_or_default();
    match run.is_flat_out() {
        true => format!("{} items/s", grouped(run.series.distribution.p50().unwrap_or_default())),
        false => format!("{}{cpu}", p50(run.series)),
    }
}

fn engine_parks(file: &ResultFile) -> Checked {
    let all = runs(file);
    let mut pairs: Vec<(f64, EngineRun<'_>, EngineRun<'_>)> = Vec::new();
    for run in &all {
        let Some(plain) = run.as_it_comes(&all) else { continue };
        if let Some(gain) = run.gain(&plain) {
            pairs.push((gain, plain, *run));
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    let Some((gain, plain, other)) = pairs.first() else {
        return Err(not_measured(file, ExperimentId::R5, "an engine with its own parks and with others"));
    };
    if !plain.is_flat_out() {
        sound(plain.series)?;
        sound(other.series)?;
    }
    let what = if plain.is_flat_out() { "throughput" } else { "latency" };
    let variant = other.variant().unwrap_or_default();
    let figures = format!("{} with its own parks, {} with {variant}", figures_of(plain), figures_of(other));
    let beside =
        pairs.iter().find(|(_, one, _)| one.runtime == plain.runtime && one.is_flat_out() != plain.is_flat_out());
    let beside = beside.map(|(_, one, two)| {
        format!(
            "; its {} was {} and {}",
            if one.is_flat_out() { "throughput" } else { "latency" },
            figures_of(one),
            figures_of(two)
        )
    });
    let beside = beside.unwrap_or_default();
    let conclusion = match *gain >= GAIN_MIN {
        true => Conclusion::found(format!("the parks of {} cost {what}: {figures}{beside}", plain.runtime)),
        false => Conclusion::absent(format!(
            "no engine's parks cost much here; the largest difference is the {what} of {}: {figures}{beside}",
            plain.runtime
        )),
    };
    let cited = pairs.iter().flat_map(|(_, one, two)| [one.series, two.series]);
    Ok(conclusion.rests_on_series(cited))
}

#[cfg(test)]
mod tests {
    use oversleep_record::{Nanos, label};

    use crate::testing::{Explained, Sheet, rounds};

    /// An engine: latency and items per second, with its own parks and with parks of 1 µs.
    fn engine(latency_us: [i64; 2], rate: [i64; 2]) -> Sheet {
        let mut sheet = Sheet::linux();
        for (at, tail) in ["", "/park-1us"].into_iter().enumerate() {
            let paced = format!("R5/paced/1ms/jet-3.2{tail}");
            for (key, value) in [(paced, latency_us[at] * 1_000), (format!("R5/flat-out/1s/jet-3.2{tail}"), rate[at])] {
                sheet = sheet.steady(key, value).of_runtime("jet", "3.2.2");
                // 80 values of 1 ms: 20 ms of CPU time are a quarter of a CPU.
                sheet = sheet.labelled(label::CPU, Nanos::from_millis(20));
                if at == 1 {
                    sheet = sheet.labelled(label::VARIANT, "park-1us".to_owned());
                }
            }
        }
        sheet
    }

    #[test]
    fn parks_that_cost_latency_are_told_with_what_shorter_ones_take() {
        let sheet = engine([740, 210], [1_020_000, 1_050_000]);
        sheet.finds(
            "OVS-R008",
            "the parks of jet 3.2.2 cost latency: 740 µs for 25 % of a CPU with its own parks, 210 µs for 25 % of a CPU \
             with park-1us; its throughput was 1,020,000 items/s and 1,050,000 items/s",
        );
        engine([740, 700], [80_000, 530_000]).finds(
            "OVS-R008",
            "the parks of jet 3.2.2 cost throughput: 80,000 items/s with its own parks, 530,000 items/s with park-1us; its \
             latency was 740 µs for 25 % of a CPU and 700 µs for 25 % of a CPU",
        );
    }

    #[test]
    fn parks_that_cost_nothing_are_told_as_that() {
        engine([740, 700], [1_020_000, 1_050_000]).finds_no(
            "OVS-R008",
            "no engine's parks cost much here; the largest difference is the latency of jet 3.2.2: 740 µs for 25 % of a CPU with its own \
             parks, 700 µs for 25 % of a CPU with park-1us; its throughput was 1,020,000 items/s and 1,050,000 items/s",
        );
    }

    #[test]
    fn one_side_alone_tells_nothing() {
        let sheet = Sheet::linux().series(rounds("R5/paced/1ms/jet-3.2", &[740_000; 4], 20)).of_runtime("jet", "3.2.2");
        sheet.lacks_data("OVS-R008");
    }
}
