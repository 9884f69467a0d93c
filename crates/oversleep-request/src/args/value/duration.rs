//! Durations: requests, run times, slack and latency bounds, each with its own limits.

use oversleep_lab::ask::REQUEST_MAX;
use oversleep_record::Nanos;

/// The longest single wait on this machine; a longer one would show nothing new.
pub const REQUEST_HERE_MAX: Nanos = Nanos::from_secs(60);
/// The longest time of `--for`.
const RUN_MAX: Nanos = Nanos::from_secs(24 * 3_600);
/// The longest slack; a minute of it makes every wait useless.
const SLACK_MAX: Nanos = Nanos::from_secs(60);
/// The longest bound on the exit latency of idle states; none takes a thousandth of it.
const LATENCY_MAX: Nanos = Nanos::from_secs(60);

fn span(text: &str) -> Result<Nanos, String> {
    text.parse().map_err(|error: oversleep_record::units::DurationError| error.to_string())
}

fn positive(text: &str, what: &str, example: &str) -> Result<Nanos, String> {
    // 0 needs no unit, so an error should be about the 0.
    let span = if text.trim() == "0" { Nanos::ZERO } else { span(text)? };
    if span > Nanos::ZERO { Ok(span) } else { Err(format!("{what} must be longer than 0, like {example}")) }
}

fn at_most(span: Nanos, most: Nanos, message: &str) -> Result<Nanos, String> {
    if span <= most { Ok(span) } else { Err(message.to_owned()) }
}

/// A requested wait on this machine.
pub fn request(text: &str) -> Result<Nanos, String> {
    let span = positive(text, "a request", "300us or 1ms")?;
    at_most(span, REQUEST_HERE_MAX, "a request is at most 60s")
}

/// A requested wait on some machine: a modelled one has as long as questions ask for.
pub fn request_somewhere(text: &str) -> Result<Nanos, String> {
    let span = positive(text, "a request", "300us or 1ms")?;
    at_most(span, REQUEST_MAX, "a request is at most 60 days (60d)")
}

/// The time limit for each series.
pub fn run_time(text: &str) -> Result<Nanos, String> {
    let span = positive(text, "the time to run", "5s")?;
    at_most(span, RUN_MAX, "the time to run is at most 24h")
}

/// How long a watch may last: a month.
pub fn watch_time(text: &str) -> Result<Nanos, String> {
    let span = positive(text, "the time to watch", "10min")?;
    at_most(span, Nanos(31 * RUN_MAX.0), "the time to watch is at most 744h")
}

/// The interval between observations of a watch.
pub fn interval(text: &str) -> Result<Nanos, String> {
    let span = positive(text, "--every", "1s")?;
    if span < Nanos::from_millis(100) {
        return Err("--every must be at least 100ms: each observation sleeps and polls clocks".to_owned());
    }
    at_most(span, RUN_MAX, "--every is at most 24h")
}

/// Timer slack.
pub fn slack(text: &str) -> Result<Nanos, String> {
    let span = positive(text, "timer slack", "1ns (the shortest)")?;
    at_most(span, SLACK_MAX, "timer slack is at most 60s")
}

/// A timer resolution.
pub fn resolution(text: &str) -> Result<Nanos, String> {
    let span = positive(text, "a timer resolution", "500us or 1ms")?;
    at_most(span, SLACK_MAX, "a timer resolution is at most 60s")
}

/// A bound on the exit latency of idle states: `0`, or a duration of whole microseconds.
pub fn latency_bound(text: &str) -> Result<Nanos, String> {
    let span = if text.trim() == "0" { Nanos::ZERO } else { span(text)? };
    if span < Nanos::ZERO {
        return Err("a latency bound can't be negative; 0 forbids every idle state".to_owned());
    }
    if span.0 % 1_000 != 0 {
        return Err("a latency bound is a whole number of microseconds, like 20us, or 0".to_owned());
    }
    at_most(span, LATENCY_MAX, "a latency bound is at most 60s; no idle state takes that long to leave")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_limits_on_both_sides() {
        assert_eq!(request("300us"), Ok(Nanos(300_000)));
        assert_eq!(request("60s"), Ok(REQUEST_HERE_MAX));
        assert_eq!(request_somewhere("1440h"), Ok(REQUEST_MAX));
        assert_eq!(request_somewhere("1441h").unwrap_err(), "a request is at most 60 days (60d)");
        assert_eq!(request("0ms").unwrap_err(), "a request must be longer than 0, like 300us or 1ms");
        assert_eq!(request("-1ms").unwrap_err(), "a request must be longer than 0, like 300us or 1ms");
        assert_eq!(request("61s").unwrap_err(), "a request is at most 60s");
        assert!(request("1 parsec").unwrap_err().contains("'parsec' in '1 parsec' is not a unit of time"));
        assert!(request("1e30").unwrap_err().contains("not a unit"));
        assert!(request("").unwrap_err().contains("empty"));
    }

    #[test]
    fn the_other_durations_have_their_own_limits() {
        assert_eq!(run_time("24h"), Ok(RUN_MAX));
        assert_eq!(run_time("25h").unwrap_err(), "the time to run is at most 24h");
        assert!(run_time("0s").is_err());
        assert_eq!(resolution("0.5ms"), Ok(Nanos(500_000)));
        assert!(resolution("0").is_err() && resolution("61s").is_err());
        assert_eq!(slack("1ns"), Ok(Nanos(1)));
        assert!(slack("0ns").unwrap_err().contains("1ns (the shortest)"));
        assert_eq!(latency_bound("0"), Ok(Nanos::ZERO));
        assert_eq!(latency_bound("20us"), Ok(Nanos(20_000)));
        assert!(latency_bound("500ns").unwrap_err().contains("whole number of microseconds"));
        assert!(latency_bound("-1us").unwrap_err().contains("negative"));
        assert!(latency_bound("5").unwrap_err().contains("no unit"));
    }
}
