//! The date, for the name and the head of a saved report.

use std::time::{SystemTime, UNIX_EPOCH};

use oversleep_record::date::Utc;

/// Today in UTC, as `2026-01-31`.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let date = i64::try_from(since).ok().and_then(Utc::of_unix);
    date.map_or_else(|| "unknown-date".to_owned(), Utc::to_day)
}
