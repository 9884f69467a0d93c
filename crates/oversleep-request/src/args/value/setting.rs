//! A setting of the resolution tunable, whichever this system has.

use oversleep_record::conditions::Setting;

use super::{policy, resolution};

/// A duration, like `1ms`; or a word with a number, like a service class, which the platform validates.
pub fn setting(text: &str) -> Result<Setting, String> {
    let is_word = text.trim().starts_with(|first: char| first.is_ascii_alphabetic());
    if is_word { policy(text) } else { resolution(text).map(Setting::Nanos) }
}

#[cfg(test)]
mod tests {
    use oversleep_record::Nanos;

    use super::*;

    #[test]
    fn durations_are_read_and_words_are_looked_up_later() {
        assert_eq!(setting("1ms"), Ok(Setting::Nanos(Nanos::from_millis(1))));
        let word = Setting::Policy { policy: "user-interactive".to_owned(), priority: 0 };
        assert_eq!(setting("user-interactive"), Ok(word));
        assert!(setting("1").unwrap_err().contains("has no unit"));
        assert!(setting("-1ms").unwrap_err().contains("longer than 0"));
        assert!(setting("").is_err());
    }
}
