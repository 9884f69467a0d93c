//! Pushes metrics by OTLP over HTTP, as OpenTelemetry's environment variables say.
//! <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::metrics::Family;
use crate::otlp::{self, Times};

/// How long a receiver may take unless the environment says otherwise.
const TIME_MAX: Duration = Duration::from_secs(10);
const EVERY: Duration = Duration::from_secs(60);
/// Each push takes a ms of CPU time.
const EVERY_MIN: Duration = Duration::from_secs(1);

/// Where metrics are pushed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The whole URL.
    pub url: String,
    /// Headers that the user stated.
    pub headers: Vec<(String, String)>,
    /// Attributes of the resource.
    pub resource: Vec<(String, String)>,
    /// How often.
    pub every: Duration,
    /// Whether the body is compressed by gzip.
    pub is_compressed: bool,
    /// How long a receiver may take, in whole seconds.
    time_max_s: u64,
}

/// A variable that this program can honour with some values only.
struct Choice {
    /// Its name for metrics alone, which counts first, and for all signals.
    names: &'static [&'static str],
    /// The values that can be honoured.
    known: &'static [&'static str],
    /// What to do instead of the others.
    next: &'static str,
}

const PROTOCOL: Choice = Choice {
    names: &["OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"],
    known: &["http/protobuf"],
    next: "set OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf for oversleep, and name the receiver's port for HTTP, \
           usually 4318",
};
const COMPRESSION: Choice = Choice {
    names: &["OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"],
    known: &["none", "gzip"],
    next: "set it to gzip or none",
};
const TEMPORALITY: Choice = Choice {
    names: &["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"],
    known: &["cumulative"],
    next: "what is pushed counts from the start; a collector's cumulativetodelta processor makes differences of it",
};
const HISTOGRAMS: Choice = Choice {
    names: &["OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION"],
    known: &["base2_exponential_bucket_histogram"],
    next: "only base2_exponential_bucket_histogram is pushed; scrape /metrics for explicit buckets",
};

impl Choice {
    /// The value that is set; `None` if none is.
    fn of(&self, set: &dyn Fn(&str) -> Option<String>) -> Result<Option<&'static str>, String> {
        let Some((name, value)) = self.names.iter().find_map(|name| Some((name, set(name)?))) else { return Ok(None) };
        let value = value.trim().to_ascii_lowercase();
        let known = self.known.iter().find(|known| **known == value);
        known.map(|known| Some(*known)).ok_or_else(|| format!("{name}: {value} isn't supported; {}", self.next))
    }
}

impl Destination {
    /// That of the option, or of the environment; `None` if neither names one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(option: Option<&str>, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Destination>, String> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let stated = option.map(|url| ("--otlp", url.to_owned()));
        let of_metrics = || Some(("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", set("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")?));
        let of_all = || {
            let base = set("OTEL_EXPORTER_OTLP_ENDPOINT")?;
            Some(("OTEL_EXPORTER_OTLP_ENDPOINT", format!("{}/v1/metrics", base.trim_end_matches('/'))))
        };
        let is_off = set("OTEL_SDK_DISABLED").is_some_and(|text| text.trim().eq_ignore_ascii_case("true"))
            || set("OTEL_METRICS_EXPORTER").is_some_and(|text| text.trim() == "none");
        let of_environment = || of_metrics().or_else(of_all).filter(|_| !is_off);
        let Some((name, url)) = stated.or_else(of_environment) else { return Ok(None) };
        PROTOCOL.of(&set)?;
        TEMPORALITY.of(&set)?;
        HISTOGRAMS.of(&set)?;
        let is_compressed = COMPRESSION.of(&set)? == Some("gzip");
        match url.split_once("://") {
            Some(("http", rest)) if rest.split('/').next().is_some_and(|host| host.contains('@')) => {
                return Err(format!("{name}: a URL with a user isn't understood; state OTEL_EXPORTER_OTLP_HEADERS"));
            }
            Some(("http", rest)) if !rest.is_empty() && !rest.starts_with('/') => {}
            Some(("https", _)) => {
                return Err(format!("{name}: {url}: only http is spoken; name a collector on this machine"));
            }
            _ => return Err(format!("{name}: {url} is no URL such as http://127.0.0.1:4318/v1/metrics")),
        }
        let headers = ["OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"].into_iter().find_map(set);
        let headers = headers.map(|text| pairs(&text)).unwrap_or_default();
        if headers.iter().any(|(name, value)| format!("{name}{value}").contains(|letter: char| letter.is_control())) {
            return Err("OTEL_EXPORTER_OTLP_HEADERS: a header has a control character".to_owned());
        }
        let mut resource = set("OTEL_RESOURCE_ATTRIBUTES").map(|text| pairs(&text)).unwrap_or_default();
        if let Some(name) = set("OTEL_SERVICE_NAME") {
            resource.retain(|(key, _)| key != "service.name");
            resource.push(("service.name".to_owned(), name));
        }
        if !resource.iter().any(|(key, _)| key == "service.name") {
            resource.push(("service.name".to_owned(), "oversleep".to_owned()));
        }
        // Without it, all hosts would be one series: a push has no scraper that tells them apart.
        if !resource.iter().any(|(key, _)| key == "service.instance.id") {
            resource.push(("service.instance.id".to_owned(), random_id()));
        }
        let millis = |name: &str| -> Result<Option<Duration>, String> {
            let Some(text) = set(name) else { return Ok(None) };
            let wrong = |_| format!("{name}: '{}' is no number of milliseconds", text.trim());
            text.trim().parse().map(|ms| Some(Duration::from_millis(ms))).map_err(wrong)
        };
        let every = millis("OTEL_METRIC_EXPORT_INTERVAL")?.unwrap_or(EVERY).max(EVERY_MIN);
        let mut time_max = TIME_MAX;
        for name in ["OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT"] {
            time_max = millis(name)?.unwrap_or(time_max);
        }
        // The client counts in seconds, and takes none for no limit at all.
        let time_max_s = time_max.as_millis().div_ceil(1_000).max(1) as u64;
        Ok(Some(Destination { url, headers, resource, every, is_compressed, time_max_s }))
    }

    /// Pushes once. What fails is in the next push: it counts from the start.
    ///
    /// # Errors
    /// Why it failed.
    pub fn push(&self, families: &[Family], version: &str, times: Times) -> Result<(), String> {
        let mut body = otlp::write(families, &self.resource, version, times);
        if self.is_compressed {
            body = compressed(&body).map_err(|error| error.to_string())?;
        }
        let mut request = minreq::post(self.url.clone()).with_body(body).with_timeout(self.time_max_s);
        request = request.with_header("Content-Type", otlp::CONTENT_TYPE);
        if self.is_compressed {
            request = request.with_header("Content-Encoding", "gzip");
        }
        for (name, value) in &self.headers {
            request = request.with_header(name.clone(), value.clone());
        }
        let answer = request.send().map_err(|error| error.to_string())?;
        match answer.status_code {
            200..300 => Ok(()),
            status => Err(format!("the receiver answers {status} {}", answer.reason_phrase)),
        }
    }
}

fn compressed(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(body)?;
    packer.finish()
}

/// A number that no other start has: the keys of hashers are random.
fn random_id() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

/// `a=b,c=d` with percent-encoded values.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Some((name.trim().to_owned(), decoded(value.trim())))
    };
    text.split(',').filter_map(pair).filter(|(name, _)| !name.is_empty()).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
        match (first, hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(option: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<Destination>, String> {
        let variable = |name: &str| variables.iter().find(|(set, _)| *set == name).map(|(_, to)| (*to).to_owned());
        Destination::of(option, &variable)
    }

    #[test]
    fn the_environment_names_a_base_and_the_option_a_whole_url() {
        let base = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318/")];
        assert_eq!(of(None, &base).unwrap().unwrap().url, "http://127.0.0.1:4318/v1/metrics");
        assert_eq!(of(Some("http://a:1/x"), &base).unwrap().unwrap().url, "http://a:1/x");
        let both = [base[0], ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m/y")];
        assert_eq!(of(None, &both).unwrap().unwrap().url, "http://m/y");
        assert_eq!((of(None, &[]), of(None, &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")])), (Ok(None), Ok(None)));
    }

    #[test]
    fn what_the_environment_chooses_is_honoured_or_refused_with_the_next_step() {
        let with = |name, value| of(Some("http://a:1/x"), &[(name, value)]);
        let is_compressed = |name, value| with(name, value).unwrap().unwrap().is_compressed;
        assert!(is_compressed("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"));
        assert!(is_compressed("OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", " GZIP "));
        assert!(!is_compressed("OTEL_EXPORTER_OTLP_COMPRESSION", "none"));
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "Cumulative"),
            ("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram"),
        ] {
            assert!(with(name, value).is_ok(), "{name}");
        }
        for (name, value, next) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "4318"),
            ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "gzip or none"),
            ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta", "cumulativetodelta"),
            ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "lowmemory", "cumulativetodelta"),
            ("OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "explicit_bucket_histogram", "/metrics"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1m", "milliseconds"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "milliseconds"),
        ] {
            let why = with(name, value).expect_err(name);
            assert!(why.starts_with(name) && why.contains(value) && why.contains(next), "{why}");
            // Where nothing is pushed, no variable is wrong.
            assert_eq!(of(None, &[(name, value)]), Ok(None));
        }
        // The name for metrics alone counts first.
        let both = [("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf")];
        assert!(of(Some("http://a:1/x"), &both).is_ok());
        let seconds = |value| with("OTEL_EXPORTER_OTLP_TIMEOUT", value).unwrap().unwrap().time_max_s;
        assert_eq!(["2500", "2000", "0"].map(seconds), [3, 2, 1]);
    }

    #[test]
    fn a_compressed_body_is_the_same_one() {
        let body: Vec<u8> = (0..5_000_u32).map(|at| (at % 7) as u8).collect();
        let packed = compressed(&body).unwrap();
        let mut read = Vec::new();
        io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&packed[..]), &mut read).unwrap();
        assert_eq!(read, body);
        assert!(packed.len() < 200, "{}", packed.len());
    }

    #[test]
    fn what_cannot_be_reached_is_said_with_its_name() {
        for url in ["https://a/v1/metrics", "a:4318", "http://", "ftp://a", "http://user:secret@a/"] {
            assert!(of(Some(url), &[]).is_err_and(|error| error.starts_with("--otlp: ")), "{url}");
        }
    }

    #[test]
    fn attributes_headers_and_the_interval_are_those_of_the_environment() {
        let variables = [
            ("OTEL_RESOURCE_ATTRIBUTES", "host.group=db%2C1, service.name=x,bad,=y"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "5000"),
        ];
        let destination = of(Some("http://a/v1/metrics"), &variables).unwrap().unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(destination.resource[..2], [pair("host.group", "db,1"), pair("service.name", "x")]);
        assert_eq!((destination.resource[2].0.as_str(), destination.resource[2].1.len()), ("service.instance.id", 32));
        assert_eq!(destination.headers, [pair("api-key", "a b")]);
        assert_eq!(destination.every, Duration::from_secs(5));
        let named = of(Some("http://a/"), &[variables[0], ("OTEL_SERVICE_NAME", "z")]).unwrap().unwrap();
        assert_eq!(named.resource[1], pair("service.name", "z"));
        let hostile = [("OTEL_EXPORTER_OTLP_HEADERS", "c=d%0d%0aX-Evil: 1")];
        assert!(of(Some("http://a/"), &hostile).is_err_and(|error| error.contains("control character")));
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a");
        for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_METRICS_EXPORTER", "none")] {
            assert_eq!(of(None, &[base, off]), Ok(None), "{off:?}");
        }
        assert_eq!((decoded("%zz%4"), decoded("%41")), ("%zz%4".to_owned(), "A".to_owned()));
    }
}
