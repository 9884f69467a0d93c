//! Words and figures for sentences.

pub(super) use oversleep_record::words::{cost, counted, list, percent};

/// A CPU count or quota without needless decimals: `2`, `0.5`.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_needless_decimals() {
        assert_eq!([number(2.0), number(0.5), number(0.333)], ["2", "0.5", "0.33"]);
    }
}
