//! Prometheus' protocol buffers with native histograms.
//! <https://github.com/prometheus/client_model/blob/v0.6.1/io/prometheus/client/metrics.proto>

use oversleep_record::{Distribution, Nanos};
use oversleep_sampler::exponential::{Exponential, SCHEMA, ZERO_THRESHOLD_S};
use prost::Message;

use crate::metrics::{Family, Sample, Type, Value, sum_s};

/// The type of such an answer.
pub const CONTENT_TYPE: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

#[derive(Clone, PartialEq, Message)]
struct MetricFamily {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    help: Option<String>,
    #[prost(int32, optional, tag = "3")]
    kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    metric: Vec<Metric>,
    #[prost(string, optional, tag = "5")]
    unit: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(message, repeated, tag = "1")]
    label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Gauge>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Counter>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
struct LabelPair {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(string, optional, tag = "2")]
    value: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Gauge {
    #[prost(double, optional, tag = "1")]
    value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
struct Counter {
    #[prost(double, optional, tag = "1")]
    value: Option<f64>,
    #[prost(message, optional, tag = "3")]
    created: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Message)]
struct Histogram {
    #[prost(uint64, optional, tag = "1")]
    sample_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    sample_sum: Option<f64>,
    #[prost(sint32, optional, tag = "5")]
    schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    zero_count: Option<u64>,
    #[prost(message, repeated, tag = "9")]
    negative_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, packed = "false", tag = "10")]
    negative_delta: Vec<i64>,
    #[prost(message, repeated, tag = "12")]
    positive_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, packed = "false", tag = "13")]
    positive_delta: Vec<i64>,
    #[prost(message, optional, tag = "15")]
    created: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Message)]
struct BucketSpan {
    #[prost(sint32, optional, tag = "1")]
    offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    length: Option<u32>,
}

/// `google.protobuf.Timestamp`, of version 3 of the language: zero isn't written.
#[derive(Clone, PartialEq, Message)]
struct Timestamp {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

const COUNTER: i32 = 0;
const GAUGE: i32 = 1;
const HISTOGRAM: i32 = 4;

/// All families, each behind its length. `start_s` is when counting began, in seconds since 1970.
pub fn write(families: &[Family], start_s: f64) -> Vec<u8> {
    families.iter().flat_map(|family| of_family(family, start_s).encode_length_delimited_to_vec()).collect()
}

fn of_family(family: &Family, start_s: f64) -> MetricFamily {
    MetricFamily {
        name: Some(family.full_name()),
        help: Some(family.help.to_owned()),
        kind: Some(match family.kind {
            Type::Counter => COUNTER,
            Type::Gauge | Type::Info => GAUGE,
            Type::Histogram => HISTOGRAM,
        }),
        metric: family.samples.iter().map(|sample| of_sample(family.kind, sample, start_s)).collect(),
        unit: (!family.unit.is_empty()).then(|| family.unit.to_owned()),
    }
}

fn of_sample(kind: Type, sample: &Sample, start_s: f64) -> Metric {
    let created = Some(Timestamp { seconds: start_s as i64, nanos: (start_s.fract() * 1e9) as i32 });
    let pair =
        |(name, value): &(&str, String)| LabelPair { name: Some((*name).to_owned()), value: Some(value.clone()) };
    let mut metric = Metric { label: sample.labels.iter().map(pair).collect(), ..Metric::default() };
    match &sample.value {
        Value::Number(value) if kind == Type::Counter => {
            metric.counter = Some(Counter { value: Some(*value), created });
        }
        Value::Number(value) => metric.gauge = Some(Gauge { value: Some(*value) }),
        Value::Distribution(values, early) => {
            metric.histogram = Some(Histogram { created, ..native(values, *early) });
        }
    }
    metric
}

fn native(values: &Distribution, early: Nanos) -> Histogram {
    let all = Exponential::of(values);
    let (negative_span, negative_delta) = buckets(&all.negative);
    let (mut positive_span, positive_delta) = buckets(&all.positive);
    // Without any span it would be taken for a classic one.
    if positive_span.is_empty() && negative_span.is_empty() {
        positive_span.push(BucketSpan { offset: Some(0), length: Some(0) });
    }
    Histogram {
        sample_count: Some(all.count),
        sample_sum: Some(sum_s(values, early)),
        schema: Some(SCHEMA),
        zero_threshold: Some(ZERO_THRESHOLD_S),
        zero_count: Some(all.zero_count),
        negative_span,
        negative_delta,
        positive_span,
        positive_delta,
        created: None,
    }
}

/// Spans of filled buckets that follow one another, and each count as its difference to the one before.
fn buckets(filled: &[(i32, u64)]) -> (Vec<BucketSpan>, Vec<i64>) {
    let (mut next, mut before) = (0, 0_i64);
    let spans = filled.chunk_by(|(a, _), (b, _)| a + 1 == *b).map(|run| {
        let offset = run[0].0 - next;
        next = run[0].0 + run.len() as i32;
        BucketSpan { offset: Some(offset), length: Some(run.len() as u32) }
    });
    let spans = spans.collect();
    let deltas = filled.iter().map(|(_, count)| {
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        let delta = count - before;
        before = count;
        delta
    });
    (spans, deltas.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = i64>) -> Distribution {
        let mut all = Distribution::growing();
        values.into_iter().for_each(|value| all.record(value));
        all
    }

    /// The buckets that a reader makes of spans and differences, as client_model describes them.
    fn read(spans: &[BucketSpan], deltas: &[i64]) -> Vec<(i32, u64)> {
        let (mut index, mut count, mut deltas) = (0, 0_i64, deltas.iter());
        let mut all = Vec::new();
        for span in spans {
            index += span.offset();
            for _ in 0..span.length() {
                count += deltas.next().expect("a count for each bucket");
                all.push((index, count as u64));
                index += 1;
            }
        }
        assert_eq!(deltas.next(), None);
        all
    }

    #[test]
    fn spans_and_differences_are_the_buckets_again() {
        let values = of((0..4_000).map(|at| (at * 7_919) % 40_000_000 - 300_000).chain([0, 1, 60_000_000_000]));
        let all = Exponential::of(&values);
        let native = native(&values, Nanos::ZERO);
        assert_eq!(read(&native.positive_span, &native.positive_delta), all.positive);
        assert_eq!(read(&native.negative_span, &native.negative_delta), all.negative);
        assert_eq!((native.sample_count(), native.zero_count()), (4_003, all.zero_count));
    }

    #[test]
    fn what_is_written_is_read_again_by_length_and_an_empty_histogram_has_a_span() {
        let histogram = Family {
            name: "oversleep_wait_lateness_seconds",
            help: "Late.",
            kind: Type::Histogram,
            unit: "seconds",
            samples: vec![Sample {
                labels: vec![("wait", "nanosleep".to_owned())],
                value: Value::Distribution(Box::new(of([])), Nanos::ZERO),
            }],
        };
        let counter = Family {
            name: "oversleep_steal_seconds",
            help: "Steal.",
            kind: Type::Counter,
            unit: "seconds",
            samples: vec![Sample { labels: Vec::new(), value: Value::Number(0.0) }],
        };
        let bytes = write(&[histogram, counter], 1_764_000_000.5);
        let mut rest = &bytes[..];
        let first = MetricFamily::decode_length_delimited(&mut rest).unwrap();
        let second = MetricFamily::decode_length_delimited(&mut rest).unwrap();
        assert!(rest.is_empty());
        let read = first.metric[0].histogram.as_ref().unwrap();
        assert_eq!((first.kind(), read.schema(), read.positive_span.len()), (HISTOGRAM, 4, 1));
        assert_eq!(second.name(), "oversleep_steal_seconds_total");
        let counter = second.metric[0].counter.as_ref().unwrap();
        assert_eq!(counter.value, Some(0.0), "zero is written: it is known");
        assert_eq!(counter.created, Some(Timestamp { seconds: 1_764_000_000, nanos: 500_000_000 }));
    }

    /// Field numbers and wire types by hand, from the published schema.
    #[test]
    fn a_counter_is_these_bytes() {
        let family = Family {
            name: "a",
            help: "h",
            kind: Type::Counter,
            unit: "",
            samples: vec![Sample { labels: vec![("l", "v".to_owned())], value: Value::Number(2.0) }],
        };
        let bytes = write(&[family], 5.0);
        let mut expected = vec![0x0a, 7, b'a', b'_', b't', b'o', b't', b'a', b'l', 0x12, 1, b'h', 0x18, 0];
        let counter = [&[0x09][..], &2.0_f64.to_le_bytes(), &[0x1a, 2, 0x08, 5]].concat();
        let label = [0x0a, 6, 0x0a, 1, b'l', 0x12, 1, b'v'];
        expected.extend([0x22, (label.len() + 2 + counter.len()) as u8]);
        expected.extend(label);
        expected.extend([0x1a, counter.len() as u8]);
        expected.extend(counter);
        expected.insert(0, expected.len() as u8);
        assert_eq!(bytes, expected);
    }
}
