//! The work of a thread: `15ms`, or a span that it is drawn from, `10..20ms`.

use oversleep_measure::WorkSpan;
use oversleep_record::Nanos;

/// The longest work; a longer fork-join would show nothing new.
const WORK_MAX: Nanos = Nanos::from_secs(60);

/// One duration, or two with `..` between them; the first may leave its unit to the second.
pub fn work(text: &str) -> Result<WorkSpan, String> {
    let of = |text: &str| text.parse::<Nanos>().map_err(|error| format!("{error}; write work as 15ms or 10..20ms"));
    let (min, max) = match text.split_once("..") {
        None => (of(text)?, of(text)?),
        Some((least, most)) => {
            let unit = most.trim_start_matches(|c: char| !c.is_alphabetic());
            let has_unit = least.chars().any(char::is_alphabetic);
            (of(&if has_unit { least.to_owned() } else { format!("{}{unit}", least.trim()) })?, of(most)?)
        }
    };
    match () {
        () if min <= Nanos::ZERO => Err("work must be longer than 0, like 15ms or 10..20ms".to_owned()),
        () if max > WORK_MAX => Err("the work of a thread is at most 60s".to_owned()),
        () if min > max => Err(format!("{min} is more than {max}; write the least work first, like 10..20ms")),
        () => Ok(WorkSpan { min, max }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_one_duration_or_a_span() {
        let span = |min, max| Ok(WorkSpan { min: Nanos(min), max: Nanos(max) });
        assert_eq!(work("15ms"), span(15_000_000, 15_000_000));
        assert_eq!(work("10..20ms"), span(10_000_000, 20_000_000));
        assert_eq!(work("0.5 .. 1 ms"), span(500_000, 1_000_000));
        assert_eq!(work("900us..1ms"), span(900_000, 1_000_000));
    }

    #[test]
    fn other_work_is_refused_with_a_reason() {
        let wrong = |text: &str| work(text).unwrap_err();
        assert!(wrong("20..10ms").starts_with("20 ms is more than 10 ms; write the least work first"));
        assert!(wrong("0..10ms").contains("longer than 0") && wrong("-1ms").contains("longer than 0"));
        assert_eq!(wrong("1..61s"), "the work of a thread is at most 60s");
        for text in ["", "..", "10..", "..10ms", "10ms..20", "1..2..3ms", "ten"] {
            assert!(wrong(text).ends_with("write work as 15ms or 10..20ms"), "{text}: {}", wrong(text));
        }
    }
}
