//! OpenTelemetry's metrics as protocol buffers, with exponential histograms.
//! <https://github.com/open-telemetry/opentelemetry-proto/blob/v1.3.2/opentelemetry/proto/metrics/v1/metrics.proto>

use oversleep_record::Distribution;
use oversleep_sampler::exponential::{Exponential, SCHEMA, ZERO_THRESHOLD_S};
use prost::{Message, Oneof};

use crate::metrics::{Family, Sample, Type, Value};

/// The type of such a body.
pub const CONTENT_TYPE: &str = "application/x-protobuf";
/// Points count from the start.
const CUMULATIVE: i32 = 2;

/// The times of all points, in ns since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// When counting began.
    pub start_ns: u64,
    /// Now.
    pub now_ns: u64,
}

#[derive(Clone, PartialEq, Message)]
struct ExportMetricsServiceRequest {
    #[prost(message, repeated, tag = "1")]
    resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Scope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(string, optional, tag = "1")]
    string_value: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    description: String,
    #[prost(string, tag = "3")]
    unit: String,
    #[prost(oneof = "Data", tags = "5, 7, 10")]
    data: Option<Data>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
    #[prost(message, tag = "10")]
    ExponentialHistogram(Histogram),
}

#[derive(Clone, PartialEq, Message)]
struct Gauge {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberDataPoint>,
}

#[derive(Clone, PartialEq, Message)]
struct Sum {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberDataPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
    #[prost(bool, tag = "3")]
    is_monotonic: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Histogram {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<HistogramDataPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
}

#[derive(Clone, PartialEq, Message)]
struct NumberDataPoint {
    #[prost(fixed64, tag = "2")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(double, optional, tag = "4")]
    as_double: Option<f64>,
    #[prost(message, repeated, tag = "7")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct HistogramDataPoint {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
    #[prost(fixed64, tag = "2")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(fixed64, tag = "4")]
    count: u64,
    #[prost(double, optional, tag = "5")]
    sum: Option<f64>,
    #[prost(sint32, tag = "6")]
    scale: i32,
    #[prost(fixed64, tag = "7")]
    zero_count: u64,
    #[prost(message, optional, tag = "8")]
    positive: Option<Buckets>,
    #[prost(message, optional, tag = "9")]
    negative: Option<Buckets>,
    #[prost(double, tag = "14")]
    zero_threshold: f64,
}

#[derive(Clone, PartialEq, Message)]
struct Buckets {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint64, repeated, tag = "2")]
    bucket_counts: Vec<u64>,
}

/// All families as an ExportMetricsServiceRequest. `resource` are attributes that the user stated.
pub fn write(families: &[Family], resource: &[(String, String)], version: &str, times: Times) -> Vec<u8> {
    let attributes = resource.iter().map(|(name, value)| attribute(name, value)).collect();
    let metrics = families.iter().map(|family| of_family(family, times)).collect();
    let scope = Scope { name: "oversleep".to_owned(), version: version.to_owned() };
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics }];
    let resource = Some(Resource { attributes });
    let request = ExportMetricsServiceRequest { resource_metrics: vec![ResourceMetrics { resource, scope_metrics }] };
    request.encode_to_vec()
}

fn attribute(name: &str, value: &str) -> KeyValue {
    KeyValue { key: name.to_owned(), value: Some(AnyValue { string_value: Some(value.to_owned()) }) }
}

fn attributes(sample: &Sample) -> Vec<KeyValue> {
    sample.labels.iter().map(|(name, value)| attribute(name, value)).collect()
}

fn of_family(family: &Family, times: Times) -> Metric {
    // Receivers add the suffixes of the unit and of the kind again.
    let name = match family.kind {
        Type::Info => family.full_name(),
        _ => family.name.strip_suffix("_seconds").unwrap_or(family.name).to_owned(),
    };
    let numbers = || {
        let point = |sample: &Sample| match &sample.value {
            Value::Number(value) => Some(number(sample, *value, times)),
            Value::Distribution(..) => None,
        };
        family.samples.iter().filter_map(point).collect()
    };
    let histograms = || {
        let point = |sample: &Sample| match &sample.value {
            Value::Number(_) => None,
            Value::Distribution(values, _) => Some(histogram(sample, values, times)),
        };
        family.samples.iter().filter_map(point).collect()
    };
    let data = match family.kind {
        Type::Counter => {
            Data::Sum(Sum { data_points: numbers(), aggregation_temporality: CUMULATIVE, is_monotonic: true })
        }
        Type::Gauge | Type::Info => Data::Gauge(Gauge { data_points: numbers() }),
        Type::Histogram => {
            Data::ExponentialHistogram(Histogram { data_points: histograms(), aggregation_temporality: CUMULATIVE })
        }
    };
    let unit = if family.unit == "seconds" { "s" } else { "" };
    Metric { name, description: family.help.to_owned(), unit: unit.to_owned(), data: Some(data) }
}

fn number(sample: &Sample, value: f64, times: Times) -> NumberDataPoint {
    NumberDataPoint {
        start_time_unix_nano: times.start_ns,
        time_unix_nano: times.now_ns,
        as_double: Some(value),
        attributes: attributes(sample),
    }
}

fn histogram(sample: &Sample, values: &Distribution, times: Times) -> HistogramDataPoint {
    let all = Exponential::of(values);
    HistogramDataPoint {
        attributes: attributes(sample),
        start_time_unix_nano: times.start_ns,
        time_unix_nano: times.now_ns,
        count: all.count,
        // It would fall where a wait ended early, which a sum must not.
        sum: all.negative.is_empty().then_some(all.sum_s),
        scale: SCHEMA,
        zero_count: all.zero_count,
        positive: buckets(&all.positive),
        negative: buckets(&all.negative),
        zero_threshold: ZERO_THRESHOLD_S,
    }
}

/// All buckets from the first filled one on. Bucket 0 is the first above 1 here, and the last up to 1 at Prometheus.
fn buckets(filled: &[(i32, u64)]) -> Option<Buckets> {
    let (first, last) = (filled.first()?.0, filled.last()?.0);
    let mut bucket_counts = vec![0; (last - first + 1) as usize];
    filled.iter().for_each(|(index, count)| bucket_counts[(index - first) as usize] = *count);
    Some(Buckets { offset: first - 1, bucket_counts })
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn a_histogram_has_the_counts_of_its_buckets_and_their_offset() {
        let mut values = Distribution::growing();
        [1_000_000_000, 900_000_000, -50_000, 0].into_iter().for_each(|value| values.record(value));
        let sample = Sample {
            labels: vec![("wait", "a".to_owned())],
            value: Value::Distribution(Box::new(values.clone()), Nanos(50_000)),
        };
        let family = Family {
            name: "oversleep_wait_lateness_seconds",
            help: "Late.",
            kind: Type::Histogram,
            unit: "seconds",
            samples: vec![sample],
        };
        let times = Times { start_ns: 5, now_ns: 9 };
        let bytes = write(&[family], &[("host.name".to_owned(), "db-3".to_owned())], "0.1.0", times);
        let read = ExportMetricsServiceRequest::decode(&bytes[..]).unwrap();
        let of_resource = &read.resource_metrics[0];
        assert_eq!(of_resource.resource.as_ref().unwrap().attributes[0].key, "host.name");
        let metric = &of_resource.scope_metrics[0].metrics[0];
        assert_eq!((metric.name.as_str(), metric.unit.as_str()), ("oversleep_wait_lateness", "s"));
        let Some(Data::ExponentialHistogram(histogram)) = &metric.data else { panic!("{metric:?}") };
        let point = &histogram.data_points[0];
        let positive = point.positive.as_ref().unwrap();
        // Of OpenTelemetry, 1 s is in bucket −1; the distribution keeps it as a little more.
        assert_eq!(positive.offset, Exponential::of(&values).positive[0].0 - 1);
        assert_eq!(positive.offset + positive.bucket_counts.len() as i32 - 1, 0);
        assert_eq!(positive.bucket_counts.iter().sum::<u64>(), 2);
        assert_eq!(point.negative.as_ref().unwrap().bucket_counts, [1]);
        assert_eq!((point.count, point.zero_count, point.start_time_unix_nano), (4, 1, 5));
    }
}
