//! What is served: each path is one entry.

use crate::metrics::Family;
use crate::request::{Refusal, Request, best};
use crate::text::Dialect;
use crate::{protobuf, text};

/// What is asked for what is served.
pub trait Source: Send + Sync {
    /// The metrics now.
    fn families(&self) -> Vec<Family>;
    /// When counting began, in seconds since 1970.
    fn start_s(&self) -> f64;
    /// The last hour as a result.
    fn result(&self) -> Vec<u8>;
    /// What is known now and the late waits, as lines of JSON.
    fn lines(&self) -> String;
    /// A few lines for people.
    fn about(&self) -> String;
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status with its reason.
    pub status: &'static str,
    /// What the body is.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// A path that is served.
pub struct Route {
    /// The path.
    pub path: &'static str,
    /// What is there.
    pub what: &'static str,
    answer: fn(&dyn Source, &Request) -> Answer,
}

const TEXT: &str = "text/plain; charset=utf-8";
const OK: &str = "200 OK";

/// All of them.
pub static ROUTES: &[Route] = &[
    Route {
        path: "/metrics",
        what: "metrics: native histograms, OpenMetrics or text, as the scraper asks",
        answer: metrics,
    },
    Route {
        path: "/result.json",
        what: "the last hour as a result, which every command of oversleep reads",
        answer: |source, _| Answer::new(OK, "application/json", source.result()),
    },
    Route {
        path: "/watch.jsonl",
        what: "the state now and the late waits, as lines of JSON",
        answer: |source, _| Answer::new(OK, "application/jsonl", source.lines()),
    },
    Route { path: "/healthz", what: "ok, while it runs", answer: |_, _| Answer::new(OK, TEXT, "ok\n") },
    Route { path: "/", what: "this", answer: |source, _| Answer::new(OK, TEXT, source.about()) },
];

impl Answer {
    fn new(status: &'static str, content_type: &'static str, body: impl Into<Vec<u8>>) -> Answer {
        Answer { status, content_type, body: body.into() }
    }

    /// That of a request that is refused.
    pub fn refused(refusal: Refusal) -> Answer {
        match refusal {
            Refusal::Malformed => Answer::new("400 Bad Request", TEXT, "this is not a request of HTTP/1\n"),
            Refusal::Method => Answer::new("405 Method Not Allowed", TEXT, "only GET and HEAD are answered\n"),
            Refusal::TooLong => {
                Answer::new("431 Request Header Fields Too Large", TEXT, "the head is longer than 8 KB or 64 lines\n")
            }
        }
    }

    /// That of a client which didn't send a whole request in time.
    pub fn too_slow() -> Answer {
        Answer::new("408 Request Timeout", TEXT, "no whole request came in time\n")
    }

    /// That of one client too many.
    pub fn too_many() -> Answer {
        Answer::new("503 Service Unavailable", TEXT, "too many connections; try again\n")
    }

    /// What is sent.
    pub fn bytes(&self, is_head: bool) -> Vec<u8> {
        let allow = if self.status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{allow}Cache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            self.status,
            self.content_type,
            self.body.len()
        );
        let mut bytes = head.into_bytes();
        if !is_head {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

/// The answer to a request.
pub fn answer(source: &dyn Source, request: &Request) -> Answer {
    match ROUTES.iter().find(|route| route.path == request.path) {
        Some(route) => (route.answer)(source, request),
        None => Answer::new("404 Not Found", TEXT, format!("nothing is here; there is\n{}", list())),
    }
}

/// The paths with what is there, a line each.
pub fn list() -> String {
    ROUTES.iter().map(|route| format!("  {:<14}{}\n", route.path, route.what)).collect()
}

#[derive(Clone, Copy)]
enum Format {
    Protobuf,
    Text(Dialect),
}

fn metrics(source: &dyn Source, request: &Request) -> Answer {
    let has = |parameters: &[&str], wanted: &str| parameters.contains(&wanted);
    let is_protobuf = |media: &str, parameters: &[&str]| {
        media == "application/vnd.google.protobuf"
            && has(parameters, "proto=io.prometheus.client.MetricFamily")
            && has(parameters, "encoding=delimited")
    };
    let is_open = |media: &str, parameters: &[&str]| {
        let version = parameters.iter().find_map(|part| part.strip_prefix("version="));
        media == "application/openmetrics-text" && version.is_none_or(|version| version.starts_with("1."))
    };
    let is_text = |media: &str, _: &[&str]| matches!(media, "text/plain" | "text/*" | "*/*");
    let format = best(
        &request.accept,
        &[
            (Format::Protobuf, &is_protobuf),
            (Format::Text(Dialect::OpenMetrics), &is_open),
            (Format::Text(Dialect::Prometheus), &is_text),
        ],
    );
    let families = source.families();
    match format.unwrap_or(Format::Text(Dialect::Prometheus)) {
        Format::Protobuf => Answer::new(OK, protobuf::CONTENT_TYPE, protobuf::write(&families, source.start_s())),
        Format::Text(dialect) => Answer::new(OK, dialect.content_type(), text::write(&families, dialect)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Source for Nothing {
        fn families(&self) -> Vec<Family> {
            Vec::new()
        }
        fn start_s(&self) -> f64 {
            0.0
        }
        fn result(&self) -> Vec<u8> {
            b"{}".to_vec()
        }
        fn lines(&self) -> String {
            String::new()
        }
        fn about(&self) -> String {
            list()
        }
    }

    fn of(path: &str, accept: &str) -> Answer {
        answer(&Nothing, &Request { path: path.to_owned(), accept: accept.to_owned(), is_head: false })
    }

    #[test]
    fn each_scraper_gets_the_format_that_it_prefers() {
        // What Prometheus 2.42 and 3.16 send.
        let native = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
                      application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        let classic = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                       text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        let newest = "application/openmetrics-text;version=2.0.0;q=0.6,text/plain;version=1.0.0;q=0.4,*/*;q=0.2";
        for (accept, expected) in [
            (native, protobuf::CONTENT_TYPE),
            (classic, Dialect::OpenMetrics.content_type()),
            (newest, Dialect::Prometheus.content_type()),
            ("", Dialect::Prometheus.content_type()),
            ("text/html,*/*;q=0.8", Dialect::Prometheus.content_type()),
        ] {
            assert_eq!(of("/metrics", accept).content_type, expected, "{accept}");
        }
    }

    #[test]
    fn a_path_that_is_not_there_names_those_that_are() {
        let missing = of("/admin", "");
        assert!(missing.status.starts_with("404"));
        let text = String::from_utf8(missing.body).unwrap();
        assert!(ROUTES.iter().all(|route| text.contains(route.path)), "{text}");
    }

    #[test]
    fn a_head_has_the_length_of_the_body_that_it_leaves_out() {
        let bytes = of("/healthz", "").bytes(true);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("Content-Length: 3\r\n") && text.ends_with("\r\n\r\n"), "{text}");
        assert!(
            String::from_utf8(Answer::refused(Refusal::Method).bytes(false)).unwrap().contains("Allow: GET, HEAD\r\n")
        );
    }
}
