//! What a log of HdrHistogram (`hlog`) that is written from a result has beyond such a log: the same words are read again.

use crate::key::SeriesKey;
use crate::series::Quantity;

/// What follows a series' name in the tag of its values below zero, which are there as magnitudes.
const EARLY: &str = "/early";
/// What begins the comment that states a quantity.
const QUANTITY: &str = "Quantity = ";

/// The tag of a series: a comma would end it, and many readers end it at a blank.
pub fn tag(key: &SeriesKey) -> String {
    key.as_str().chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect()
}

/// The tag of its values below zero.
pub fn early_tag(tag: &str) -> String {
    format!("{tag}{EARLY}")
}

/// The series' tag in a tag, and whether its values are those below zero.
pub fn of_tag(tag: &str) -> (&str, bool) {
    tag.strip_suffix(EARLY).map_or((tag, false), |tag| (tag, true))
}

/// What a comment says of a tag's quantity.
pub fn quantity(tag: &str, quantity: Quantity) -> String {
    let word = serde_json::to_value(quantity).ok();
    let word = word.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
    format!("{QUANTITY}{word}, {tag}")
}

/// The tag whose quantity a comment states; an unknown quantity is none.
pub fn stated_quantity(comment: &str) -> Option<(&str, Option<Quantity>)> {
    let (word, tag) = comment.strip_prefix(QUANTITY)?.split_once(", ")?;
    Some((tag, serde_json::from_value(word.into()).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_of_a_series_is_read_again() {
        let tag = tag(&SeriesKey::from("C1/a b,c"));
        assert_eq!(tag, "C1/a_b_c");
        assert_eq!((of_tag(&tag), of_tag(&early_tag(&tag))), (("C1/a_b_c", false), ("C1/a_b_c", true)));
        assert_eq!(quantity(&tag, Quantity::Cost), "Quantity = cost, C1/a_b_c");
        assert_eq!(stated_quantity(&quantity(&tag, Quantity::Cost)), Some(("C1/a_b_c", Some(Quantity::Cost))));
        assert_eq!((stated_quantity("Quantity = x, y"), stated_quantity("Max = 1")), (Some(("y", None)), None));
    }
}
