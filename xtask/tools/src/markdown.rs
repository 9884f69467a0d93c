//! Plain text as Markdown.

/// States the origin of a page. `source` is the file to edit instead.
pub fn head(source: &str) -> String {
    format!("<!-- Written by `cargo xtask docs` from {source}. Edit that, not this. -->\n\n")
}

/// A paragraph: characters with a meaning in Markdown are escaped, code in backquotes is kept.
pub fn prose(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        if i > 0 {
            out.push('`');
        }
        if i % 2 == 1 {
            out.push_str(part);
            continue;
        }
        let mut before = ' ';
        let mut letters = part.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_in_word = before.is_alphanumeric() && letters.peek().is_some_and(|next| next.is_alphanumeric());
            match letter {
                '<' => out.push_str("&lt;"),
                '*' | '[' | ']' | '\\' => out.extend(['\\', letter]),
                '_' if !is_in_word => out.push_str("\\_"),
                letter => out.push(letter),
            }
            before = letter;
        }
    }
    out
}

/// A text of paragraphs. If a paragraph begins with a short head and a colon ("How oversleep knows: …"), the head is bold.
pub fn paragraphs(text: &str) -> String {
    let paragraph = |text: &str| match text.split_once(": ") {
        Some((head, rest)) if is_head(head) => format!("**{head}:** {}", prose(rest)),
        _ => prose(text),
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

fn is_head(text: &str) -> bool {
    let words = text.split(' ').count();
    words <= 5 && text.starts_with(char::is_uppercase) && text.chars().all(|c| c.is_alphabetic() || c == ' ')
}

/// A cell of a table.
pub fn cell(text: &str) -> String {
    prose(text).replace('|', "\\|").replace('\n', " ")
}

/// A table: its heads, then its rows of finished cells.
pub fn table<const N: usize>(heads: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut text = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(N));
    for row in rows {
        text.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    text
}

/// Code or a command in a block.
pub fn code(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```\n", text.trim_end())
}

/// An address in a text as a link; other words as they are.
pub fn linked(text: &str) -> String {
    let word = |word: &str| match word.starts_with("https://") {
        true => format!("<{word}>"),
        false => prose(word),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_markdown_are_escaped_outside_of_code() {
        assert_eq!(prose("cpu*/x of <a> and `a*b`, mq_open"), "cpu\\*/x of &lt;a> and `a*b`, mq_open");
        assert_eq!(prose("_a_ b_c [d]"), "\\_a\\_ b_c \\[d\\]");
        assert_eq!(cell("a | b"), "a \\| b");
        assert_eq!(linked("see https://a.b/c_d and x*"), "see <https://a.b/c_d> and x\\*");
    }

    #[test]
    fn heads_of_paragraphs_are_bold() {
        assert_eq!(paragraphs("A.\n\nHow oversleep knows: b: c"), "A.\n\n**How oversleep knows:** b: c");
        assert_eq!(paragraphs("Sleep(1) waits: up to 15.6 ms"), "Sleep(1) waits: up to 15.6 ms");
    }
}
