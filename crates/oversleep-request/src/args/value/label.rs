//! The name that a user gives a result.

/// The longest name, because it is part of the heading of reports.
const CHARS_MAX: usize = 200;

/// One line of text.
pub fn label(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the name is empty; leave --name out for none".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("a name is one line of text, without control characters".to_owned());
    }
    match text.chars().count() {
        0..=CHARS_MAX => Ok(text.to_owned()),
        _ => Err(format!("a name has at most {CHARS_MAX} characters")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_line() {
        assert_eq!(label(" lab, kernel 6.12 "), Ok("lab, kernel 6.12".to_owned()));
        for text in ["", " ", "a\nb", "a\x1b[31m", &"x".repeat(201)] {
            assert!(label(text).is_err(), "{text:?}");
        }
    }
}
