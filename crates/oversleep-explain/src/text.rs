//! Figures in words, beyond those of the record.

/// A CPU count or quota without needless decimals: `2`, `0.5`.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How a flag reads as evidence.
pub(crate) fn yes_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_cpus_keep_what_matters() {
        assert_eq!([number(2.0), number(0.5), number(0.333)], ["2", "0.5", "0.33"]);
    }
}
