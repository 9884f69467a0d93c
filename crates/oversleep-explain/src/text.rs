//! Figures in words: lists, shares, costs below a nanosecond.

use oversleep_record::Nanos;

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list<T: AsRef<str>>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

/// A share as a percentage with two significant digits at least: `0.43 %`, `5.8 %`, `73 %`.
pub(crate) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = match value.abs() {
        0.0 => 0,
        magnitude if magnitude < 1.0 => 2,
        magnitude if magnitude < 10.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// A cost in ps as nanoseconds with one decimal, or as a span from a microsecond on: `31.5 ns`, `1.23 µs`.
pub(crate) fn cost(ps: i64) -> String {
    if ps.unsigned_abs() >= 100_000 {
        return Nanos((ps as f64 / 1e3).round() as i64).to_string();
    }
    let text = format!("{:.1}", ps as f64 / 1e3);
    format!("{} ns", text.strip_suffix(".0").unwrap_or(&text))
}

/// A CPU count or quota without needless decimals: `2`, `0.5`.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `1 CPU`, `2 CPUs`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// How a flag reads as evidence.
pub(crate) fn yes_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_prose() {
        assert_eq!(list::<&str>(&[]), "");
        assert_eq!(list(&["poll"]), "poll");
        assert_eq!(list(&["poll", "select", "epoll-wait"]), "poll, select and epoll-wait");
    }

    #[test]
    fn figures_keep_what_matters() {
        assert_eq!(
            [percent(0.0), percent(0.0043), percent(0.058), percent(0.73), percent(1.0)],
            ["0 %", "0.43 %", "5.8 %", "73 %", "100 %"]
        );
        assert_eq!(
            [cost(31_500), cost(18_000), cost(192_400), cost(1_230_000)],
            ["31.5 ns", "18 ns", "192 ns", "1.23 µs"]
        );
        assert_eq!([number(2.0), number(0.5), number(0.333)], ["2", "0.5", "0.33"]);
        assert_eq!([counted(1, "wait"), counted(2, "wait")], ["1 wait", "2 waits"]);
    }
}
