//! Prometheus' text format 0.0.4, and OpenMetrics 1.0.
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::fmt::Write;

use oversleep_record::{Distribution, Nanos};
use oversleep_sampler::exponential::Exponential;

use crate::metrics::{BOUNDS_NS, Family, Sample, Type, Value, sum_s};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Text 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Dialect {
    /// The type of such an answer.
    pub const fn content_type(self) -> &'static str {
        match self {
            Dialect::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Dialect::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// All families. Start times are left out: scrapers take them for series of their own.
pub fn write(families: &[Family], dialect: Dialect) -> String {
    let mut out = String::new();
    for family in families {
        let is_open = dialect == Dialect::OpenMetrics;
        let name = if is_open { family.name.to_owned() } else { family.full_name() };
        let kind = match family.kind {
            Type::Counter => "counter",
            Type::Info if is_open => "info",
            Type::Gauge | Type::Info => "gauge",
            Type::Histogram => "histogram",
        };
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {kind}", family.help);
        if is_open && !family.unit.is_empty() {
            let _ = writeln!(out, "# UNIT {name} {}", family.unit);
        }
        for sample in &family.samples {
            match &sample.value {
                Value::Number(value) => {
                    let _ = writeln!(out, "{}{} {value}", family.full_name(), labels(sample, None));
                }
                Value::Distribution(values, early) => {
                    histogram(&mut out, family.name, sample, (values.as_ref(), *early));
                }
            }
        }
    }
    if dialect == Dialect::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

fn histogram(out: &mut String, name: &str, sample: &Sample, (values, early): (&Distribution, Nanos)) {
    let counts = Exponential::cumulative(values, &BOUNDS_NS);
    for (bound, count) in BOUNDS_NS.iter().zip(counts) {
        let bound = format!("{:?}", *bound as f64 / 1e9);
        let _ = writeln!(out, "{name}_bucket{} {count}", labels(sample, Some(&bound)));
    }
    let count = values.count();
    let _ = writeln!(out, "{name}_bucket{} {count}", labels(sample, Some("+Inf")));
    let _ = writeln!(out, "{name}_sum{} {}", labels(sample, None), sum_s(values, early));
    let _ = writeln!(out, "{name}_count{} {count}", labels(sample, None));
}

fn labels(sample: &Sample, bound: Option<&str>) -> String {
    let own = sample.labels.iter().map(|(name, value)| (*name, value.as_str()));
    let all: Vec<String> = own.chain(bound.map(|bound| ("le", bound))).map(|(name, value)| pair(name, value)).collect();
    if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) }
}

fn pair(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn families() -> Vec<Family> {
        let mut values = Distribution::growing();
        [-5_000, 60_000, 60_001, 3_000_000, 9_000_000_000].into_iter().for_each(|value| values.record(value));
        let labels = vec![("wait", "nano\"sleep\n".to_owned())];
        vec![
            Family {
                name: "oversleep_wait_lateness_seconds",
                help: "Late.",
                kind: Type::Histogram,
                unit: "seconds",
                samples: vec![Sample { labels, value: Value::Distribution(Box::new(values), Nanos(5_000)) }],
            },
            Family {
                name: "oversleep_wait_early",
                help: "Early.",
                kind: Type::Counter,
                unit: "",
                samples: vec![Sample { labels: Vec::new(), value: Value::Number(1.0) }],
            },
        ]
    }

    #[test]
    fn text_has_cumulative_buckets_and_escapes_labels() {
        let text = write(&families(), Dialect::Prometheus);
        let wait = r#"{wait="nano\"sleep\n""#;
        for line in [
            "# TYPE oversleep_wait_lateness_seconds histogram".to_owned(),
            format!(r#"oversleep_wait_lateness_seconds_bucket{wait},le="2e-5"}} 1"#),
            format!(r#"oversleep_wait_lateness_seconds_bucket{wait},le="0.0001"}} 3"#),
            format!(r#"oversleep_wait_lateness_seconds_bucket{wait},le="1.0"}} 4"#),
            format!(r#"oversleep_wait_lateness_seconds_bucket{wait},le="+Inf"}} 5"#),
            format!("oversleep_wait_lateness_seconds_count{wait}}} 5"),
            // The early one counts as zero: with it, the sum would fall.
            format!("oversleep_wait_lateness_seconds_sum{wait}}} 9.003120001"),
            "# TYPE oversleep_wait_early_total counter".to_owned(),
            "oversleep_wait_early_total 1".to_owned(),
        ] {
            assert!(text.lines().any(|has| has == line), "{line}\n{text}");
        }
    }

    #[test]
    fn open_metrics_names_families_without_suffix_and_says_where_it_ends() {
        let text = write(&families(), Dialect::OpenMetrics);
        for line in ["# TYPE oversleep_wait_early counter", "oversleep_wait_early_total 1"] {
            assert!(text.lines().any(|has| has == line), "{line}\n{text}");
        }
        assert!(text.contains("# UNIT oversleep_wait_lateness_seconds seconds\n") && text.ends_with("# EOF\n"));
    }
}
