//! Dates in names of files: UTC, sortable, without characters that some file system refuses.

/// Seconds since 1970-01-01 UTC as `2025-01-31T12-34-56Z`.
pub fn stamp(unix_s: i64) -> String {
    let (days, second) = (unix_s.div_euclid(86_400), unix_s.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}Z")
}

/// Year, month and day of a day since 1970-01-01, by Howard Hinnant's `civil_from_days`: the year is begun in March, so
/// that the leap day is its last. <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (unix_s, text) in [
            (0, "1970-01-01T00-00-00Z"),
            (951_827_696, "2000-02-29T12-34-56Z"),
            (1_700_000_000, "2023-11-14T22-13-20Z"),
            (4_107_542_399, "2100-02-28T23-59-59Z"),
            (4_107_542_400, "2100-03-01T00-00-00Z"),
            (-1, "1969-12-31T23-59-59Z"),
        ] {
            assert_eq!(stamp(unix_s), text);
        }
    }
}
