//! Moments and days of questions, all in UTC.

use oversleep_record::Nanos;
use oversleep_record::date::Utc;

use super::QueryError;

const DAY_US: i64 = 86_400_000_000;

/// `2026-11-27T12:34:56Z`.
pub fn text(utc: Utc) -> String {
    let Utc { year, month, day, hour, minute, second } = utc;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a moment in µs since 1970; `None` outside the years 1 to 9999.
pub fn utc(us: i64) -> Option<Utc> {
    Utc::of_unix(us.div_euclid(1_000_000))
}

/// The day of a moment: `2026-11-27`.
pub fn day_of(us: i64) -> String {
    utc(us).map_or_else(|| "undated".to_owned(), Utc::to_day)
}

/// When a day begins, in µs since 1970; `None` for what is no day.
pub fn begin_of(day: &str) -> Option<i64> {
    moment("day", day, 0).ok().filter(|_| day.len() == "2026-11-27".len())
}

/// A moment as SQL has it: `2026-11-27 12:34:56`.
pub fn moment_of(us: i64) -> String {
    utc(us).map(text).map_or_else(String::new, |text| text.replace('T', " ").trim_end_matches('Z').to_owned())
}

/// Days since 1970 of a date.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    // Howard Hinnant's `days_from_civil`: https://howardhinnant.github.io/date_algorithms.html#days_from_civil
    let is_plausible = (1..=9_999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let march_year = if month <= 2 { year - 1 } else { year };
    let era = march_year.div_euclid(400);
    let year_of_era = march_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    let is_date = Utc::of_unix(days * 86_400).is_some_and(|utc| i64::from(utc.day) == day);
    (is_plausible && is_date).then_some(days)
}

/// Reads `7d`, `2w`, `12h` as so long before `now_us`, and `2026-11-27` and `2026-11-27T12:30` as moments.
pub fn moment(name: &str, value: &str, now_us: i64) -> Result<i64, QueryError> {
    let wrong = || QueryError::Value {
        name: name.to_owned(),
        value: value.to_owned(),
        why: "write how long ago, like 7d, 2w or 12h, or a date in UTC, like 2026-11-27 or 2026-11-27T12:30".to_owned(),
    };
    let number = |text: &str| text.parse::<i64>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    let whole = |suffix: char, days: i64| {
        let count = number(value.strip_suffix(suffix)?)?;
        Some(now_us.saturating_sub(count.saturating_mul(days).saturating_mul(DAY_US)))
    };
    let ago =
        || value.parse::<Nanos>().ok().filter(|span| span.0 >= 0).map(|span| now_us.saturating_sub(span.0 / 1_000));
    let dated = || {
        let (date, time) = value.split_once(['T', ' ']).unwrap_or((value, "00:00"));
        let date: Vec<i64> = date.split('-').map(number).collect::<Option<_>>()?;
        let time: Vec<i64> = time.trim_end_matches('Z').split(':').map(number).collect::<Option<_>>()?;
        let ([year, month, day], [hour, minute, seconds @ ..]) = (&date[..], &time[..]) else { return None };
        let second = *seconds.first().unwrap_or(&0);
        let is_time = *hour < 24 && *minute < 60 && second < 60 && seconds.len() <= 1;
        let seconds = (days(*year, *month, *day)? * 24 + hour) * 3_600 + minute * 60 + second;
        is_time.then_some(seconds * 1_000_000)
    };
    whole('d', 1).or_else(|| whole('w', 7)).or_else(ago).or_else(dated).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        let now = 1_700_000_000_000_000;
        for (value, seconds) in [
            ("1d", 1_700_000_000 - 86_400),
            ("2w", 1_700_000_000 - 14 * 86_400),
            ("12h", 1_700_000_000 - 12 * 3_600),
            ("2000-02-29", 951_782_400),
            ("2000-02-29T12:34:56Z", 951_827_696),
            ("2023-11-14 22:13", 1_699_999_980),
        ] {
            assert_eq!(moment("since", value, now), Ok(seconds * 1_000_000), "{value}");
        }
        for value in ["", "7", "2023-02-29", "2023-13-01", "2023-11-14T25:00", "yesterday", "-1d", "2023-11"] {
            assert!(moment("since", value, now).is_err(), "{value}");
        }
    }
}
