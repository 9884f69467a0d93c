//! Figures of queues and idle strategies.

use oversleep_record::Nanos;

/// Most idle turns of a kind; more would spin for minutes.
const TURNS_MAX: u64 = 1_000_000_000;
/// Most items that a queue holds.
const QUEUE_MAX: u64 = 1 << 20;
/// Most items per second: the source sends each when it is due.
const RATE_MAX: u64 = 1_000_000;
/// The longest work for an item.
const ITEM_MAX: Nanos = Nanos::from_secs(1);

fn whole(text: &str, what: &str, min: u64, max: u64) -> Result<u64, String> {
    let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
    let number = digits.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("'{text}' is not {what}; write a whole number from {min} to {max}"))
}

/// Idle turns that spin or yield, from 0.
pub fn turns(text: &str) -> Result<u64, String> {
    whole(text, "a number of idle turns", 0, TURNS_MAX)
}

/// Items that a queue holds.
pub fn queue(text: &str) -> Result<u64, String> {
    whole(text, "the size of a queue", 1, QUEUE_MAX)
}

/// Items per second.
pub fn rate(text: &str) -> Result<u64, String> {
    whole(text, "a number of items per second", 1, RATE_MAX)
}

/// The work for an item; none is allowed.
pub fn item(text: &str) -> Result<Nanos, String> {
    let work: Nanos = text.parse().map_err(|error| format!("{error}; write the work for an item as 250ns or 2us"))?;
    match work {
        Nanos(..0) => Err("work can't be negative; write 0ns for none".to_owned()),
        work if work > ITEM_MAX => Err("the work for an item is at most 1s".to_owned()),
        work => Ok(work),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_limits() {
        assert_eq!((turns("0"), turns("1_000"), queue("1"), rate("1000000")), (Ok(0), Ok(1_000), Ok(1), Ok(1_000_000)));
        assert_eq!((item("0ns"), item("2us")), (Ok(Nanos::ZERO), Ok(Nanos(2_000))));
        assert_eq!(queue("0").unwrap_err(), "'0' is not the size of a queue; write a whole number from 1 to 1048576");
        for text in ["", "-1", "many", "1000001", "1.5"] {
            assert!(rate(text).unwrap_err().ends_with("write a whole number from 1 to 1000000"), "{text}");
        }
        assert!(item("2s").unwrap_err().contains("at most 1s") && item("-1ns").unwrap_err().contains("negative"));
        assert!(item("ten").unwrap_err().ends_with("write the work for an item as 250ns or 2us"));
    }
}
