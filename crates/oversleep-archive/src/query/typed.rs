//! Selections as they are typed: words, values and quotes.

use super::QueryError;

/// The words between blanks; blanks in quotes don't count. Quotes are kept.
pub fn tokens(text: &str) -> Result<Vec<String>, QueryError> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in text.chars() {
        match (letter, quote) {
            ('"' | '\'', None) => {
                quote = Some(letter);
                word.push(letter);
            }
            (letter, Some(open)) if letter == open => {
                quote = None;
                word.push(letter);
            }
            (letter, None) if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            (letter, _) => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    if quote.is_some() { Err(QueryError::OpenQuote(text.to_owned())) } else { Ok(words) }
}

/// The values between commas; commas in quotes don't count.
pub fn alternatives(value: &str) -> impl Iterator<Item = String> {
    let (mut all, mut one, mut quote) = (Vec::new(), String::new(), None);
    for letter in value.chars() {
        match (letter, quote) {
            ('"' | '\'', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            (',', None) => all.push(std::mem::take(&mut one)),
            (letter, _) => one.push(letter),
        }
    }
    all.push(one);
    all.into_iter()
}

/// The text without its quotes.
pub fn unquoted(text: &str) -> String {
    text.replace(['"', '\''], "")
}
