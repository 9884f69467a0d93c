//! The date, for the name and the head of a saved report.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today in UTC, as `2026-01-31`.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    of_day(i64::try_from(since / 86_400).unwrap_or(0))
}

/// The date this many days after 1970-01-01, computed in 400-year eras of the Gregorian calendar that begin on 1 March.
fn of_day(day: i64) -> String {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{:02}", of_year - (153 * from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (day, date) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_088, "2024-12-31"),
            (20_089, "2025-01-01"),
        ] {
            assert_eq!(of_day(day), date);
        }
    }
}
