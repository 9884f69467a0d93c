//! What a sampler shows now, as lines of JSON.

use std::time::Duration;

use oversleep_record::Distribution;
use oversleep_sampler::{Kind, LateWait, Sampler, Wait};
use serde_json::{Value, json};

fn figures(values: &Distribution) -> Value {
    json!({
        "count": values.count(),
        "min_ns": values.min(),
        "p50_ns": values.safe_quantile(0.5),
        "p99_ns": values.safe_quantile(0.99),
        "max_ns": values.max(),
    })
}

/// A second: the figures of the last ten and since the start.
pub fn of_second(sampler: &Sampler, now: Duration) -> Value {
    let of = |kind| {
        let recent = sampler.recent().distribution(kind);
        json!({ "last_10s": figures(&recent), "all": figures(&sampler.tally(kind).lateness) })
    };
    let sums = sampler.sums();
    json!({
        "event": "second",
        "at_s": now.as_secs(),
        "burst": of(Kind::Burst),
        "pause": of(Kind::Pause),
        "steal_ns": sums.steal,
        "cpu_pressure_ns": sums.cpu_pressure,
        "throttled_ns": sums.throttled,
        "suspended_ns": sums.suspended,
        "late": sampler.late_count(),
    })
}

/// A late wait.
pub fn of_late(late: &LateWait) -> Value {
    let Wait { kind, requested, end, lateness, .. } = late.wait;
    let causes: Vec<Value> =
        late.causes.iter().map(|(cause, time)| json!({ "cause": cause.as_str(), "ns": time })).collect();
    json!({
        "event": "late",
        "at_ns": end,
        "wait": if kind == Kind::Pause { "pause" } else { "burst" },
        "requested_ns": requested,
        "lateness_ns": lateness,
        "causes": causes,
        "window_ns": late.window,
    })
}
