//! Counts of values per series.

/// More would not fit into memory with their start stamps, nor tell more.
const COUNT_MAX: u64 = 1_000_000_000;

/// A count from 1 to 10^9; `_` may group digits.
pub fn count(text: &str) -> Result<u64, String> {
    let digits: String = text.trim().chars().filter(|&c| c != '_').collect();
    if digits.is_empty() {
        return Err("an empty count; write a whole number, like 1000".to_owned());
    }
    if digits.chars().any(|c| !c.is_ascii_digit()) {
        let what = if digits.starts_with('-') { "is negative" } else { "is not a whole number" };
        return Err(format!("'{text}' {what}; write one from 1 to 1000000000, like 1000"));
    }
    match digits.parse() {
        Ok(0) => Err("0 values tell nothing; write a number from 1 to 1000000000".to_owned()),
        Ok(count) if count <= COUNT_MAX => Ok(count),
        _ => Err("1000000000 values per series is the most".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_whole_numbers_up_to_a_billion() {
        assert_eq!(count("1"), Ok(1));
        assert_eq!(count("1_000"), Ok(1_000));
        assert_eq!(count("1000000000"), Ok(COUNT_MAX));
        assert_eq!(count("1000000001").unwrap_err(), "1000000000 values per series is the most");
        assert_eq!(count("99999999999999999999999").unwrap_err(), "1000000000 values per series is the most");
        assert!(count("0").unwrap_err().starts_with("0 values tell nothing"));
        assert!(count("-1").unwrap_err().starts_with("'-1' is negative"));
        assert!(count("1e30").unwrap_err().starts_with("'1e30' is not a whole number"));
        assert!(count("").unwrap_err().starts_with("an empty count"));
    }
}
