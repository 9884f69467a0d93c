//! The calendar: dates of the moments that results were taken at.

/// A moment in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc {
    /// 1 to 9999.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
}

impl Utc {
    /// Converts seconds since 1970-01-01; `None` outside the years 1 to 9999.
    ///
    /// The date is Howard Hinnant's `civil_from_days`: its year begins in March, so that the leap day is the last.
    /// <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>
    pub fn of_unix(unix_s: i64) -> Option<Utc> {
        let (days, second) = (unix_s.div_euclid(86_400), unix_s.rem_euclid(86_400));
        let shifted = days + 719_468;
        let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let small = |number: i64| u8::try_from(number).ok();
        Some(Utc {
            year: u16::try_from(year).ok().filter(|year| (1..=9_999).contains(year))?,
            month: small(month)?,
            day: small(day_of_year - (153 * march_month + 2) / 5 + 1)?,
            hour: small(second / 3_600)?,
            minute: small(second / 60 % 60)?,
            second: small(second % 60)?,
        })
    }

    /// For people: `2025-01-31 12:34 UTC`.
    pub fn to_minute(self) -> String {
        let Utc { year, month, day, hour, minute, .. } = self;
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
    }

    /// The day alone: `2025-01-31`.
    pub fn to_day(self) -> String {
        let Utc { year, month, day, .. } = self;
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// For names of files: `2025-01-31T12-34-56Z`, sortable and without characters that a file system refuses.
    pub fn for_file_name(self) -> String {
        let Utc { year, month, day, hour, minute, second } = self;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}Z")
    }
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
            assert_eq!(Utc::of_unix(unix_s).map(Utc::for_file_name).as_deref(), Some(text));
        }
        assert_eq!(Utc::of_unix(951_827_696).map(Utc::to_minute).as_deref(), Some("2000-02-29 12:34 UTC"));
    }

    #[test]
    fn moments_without_a_date_have_none() {
        let last = 253_402_300_799;
        assert_eq!(Utc::of_unix(last).map(Utc::for_file_name).as_deref(), Some("9999-12-31T23-59-59Z"));
        for unix_s in [last + 1, i64::MAX, i64::MIN, -62_135_596_801] {
            assert_eq!(Utc::of_unix(unix_s), None, "{unix_s}");
        }
    }
}
