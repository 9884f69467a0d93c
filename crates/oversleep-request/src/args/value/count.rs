//! Counts of values and threads, and ids of processes.

/// More values would add no information, and would not fit into memory with their timestamps.
const COUNT_MAX: u64 = 1_000_000_000;

/// A count from 1 to 10^9; `_` may group digits.
pub fn count(text: &str) -> Result<u64, String> {
    let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
    if digits.is_empty() {
        return Err("the count is empty; write a whole number, like 1000".to_owned());
    }
    if digits.chars().any(|c| !c.is_ascii_digit()) {
        let problem = if digits.starts_with('-') { "is negative" } else { "is not a whole number" };
        return Err(format!("'{text}' {problem}; write a number from 1 to 1000000000, like 1000"));
    }
    match digits.parse() {
        Ok(0) => Err("a series needs at least one value; write a number from 1 to 1000000000".to_owned()),
        Ok(count) if count <= COUNT_MAX => Ok(count),
        _ => Err("a series takes at most 1000000000 values".to_owned()),
    }
}

/// The id of a process.
pub fn process(text: &str) -> Result<u32, String> {
    let wrong = || format!("'{text}' is not the id of a process; write a whole number from 1, as `ps` lists them");
    text.trim().parse().ok().filter(|&id| id != 0).ok_or_else(wrong)
}

/// The most threads of a fork-join; as many as hogs of a load.
const THREADS_MAX: u64 = 1_024;

/// Threads of a fork-join, from 1 to 1,024.
pub fn threads(text: &str) -> Result<u32, String> {
    let wrong = || format!("'{text}' is not a number of threads; write a whole number from 1 to {THREADS_MAX}");
    let threads = count(text).map_err(|_| wrong())?;
    u32::try_from(threads).ok().filter(|_| threads <= THREADS_MAX).ok_or_else(wrong)
}

/// A seed of a model's chances: any whole number of 64 bits.
pub fn seed(text: &str) -> Result<u64, String> {
    let wrong = |_| format!("'{text}' is not a seed; write a whole number from 0 to {}, like 7", u64::MAX);
    text.trim().parse().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_their_own_limit() {
        assert_eq!((threads("1"), threads("1024")), (Ok(1), Ok(1_024)));
        for text in ["0", "1025", "-1", "many", ""] {
            assert!(threads(text).unwrap_err().ends_with("write a whole number from 1 to 1024"), "{text}");
        }
    }

    #[test]
    fn a_seed_is_any_number_of_64_bits() {
        assert_eq!((seed("0"), seed(" 18446744073709551615 ")), (Ok(0), Ok(u64::MAX)));
        for text in ["abc", "-3", "1.5", "", "18446744073709551616"] {
            let error = seed(text).unwrap_err();
            assert!(error.starts_with(&format!("'{text}' is not a seed; write a whole number")), "{error}");
        }
    }

    #[test]
    fn takes_whole_numbers_up_to_a_billion() {
        assert_eq!(count("1"), Ok(1));
        assert_eq!(count("1_000"), Ok(1_000));
        assert_eq!(count("1000000000"), Ok(COUNT_MAX));
        assert_eq!(count("1000000001").unwrap_err(), "a series takes at most 1000000000 values");
        assert_eq!(count("99999999999999999999999").unwrap_err(), "a series takes at most 1000000000 values");
        assert!(count("0").unwrap_err().starts_with("a series needs at least one value"));
        assert!(count("-1").unwrap_err().starts_with("'-1' is negative"));
        assert!(count("1e30").unwrap_err().starts_with("'1e30' is not a whole number"));
        assert!(count("").unwrap_err().starts_with("the count is empty"));
    }
}
