//! Markup that is balanced and escaped by construction: elements close themselves, text and attributes are escaped.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::words::{BOUND, units_bound};

/// The longest word that is kept on one line, in characters.
const WORD_MAX: usize = 16;

/// A document that is written piece by piece. After an error, nothing more is written.
pub(super) struct Markup<'a> {
    out: &'a mut dyn Write,
    outcome: io::Result<()>,
}

impl<'a> Markup<'a> {
    /// An empty document.
    pub fn to(out: &'a mut dyn Write) -> Markup<'a> {
        Markup { out, outcome: Ok(()) }
    }

    fn push(&mut self, piece: &str) {
        if self.outcome.is_ok() {
            self.outcome = self.out.write_all(piece.as_bytes());
        }
    }

    /// An element with its content.
    pub fn element(&mut self, name: &str, attributes: &[(&str, &str)], content: impl FnOnce(&mut Markup)) {
        self.open(name, attributes);
        content(self);
        self.push("</");
        self.push(name);
        self.push(">");
        if matches!(
            name,
            "p" | "li" | "tr" | "h1" | "h2" | "h3" | "h4" | "section" | "table" | "figure" | "article" | "details"
        ) {
            self.push("\n");
        }
    }

    /// An element that holds text only. In a paragraph no line is broken between a figure and its unit.
    pub fn leaf(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        let bound = (name == "p").then(|| units_bound(text));
        self.element(name, attributes, |m| match &bound {
            Some(bound) => m.with_names(bound),
            None => m.text(text),
        });
    }

    /// An element that has no content and no end.
    pub fn void(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.open(name, attributes);
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.push("<");
        self.push(name);
        for (attribute, value) in attributes {
            self.push(" ");
            self.push(attribute);
            self.push("=\"");
            self.text(value);
            self.push("\"");
        }
        self.push(">");
    }

    /// Text, escaped.
    pub fn text(&mut self, text: &str) {
        self.push(&escaped(text));
    }

    /// Text whose long names may be broken where their parts meet: `CREATE_|WAITABLE_|TIMER`.
    pub fn with_names(&mut self, text: &str) {
        for word in text.split_inclusive([' ', BOUND]) {
            if word.chars().count() <= WORD_MAX {
                self.text(word);
                continue;
            }
            let mut rest = word;
            while let Some(end) = rest.find(['_', '/', '.', '=', ':']).map(|at| at + 1).filter(|end| *end < rest.len())
            {
                self.text(&rest[..end]);
                // A path keeps its two colons.
                if !rest[end..].starts_with([':', ' ', BOUND]) {
                    self.void("wbr", &[]);
                }
                rest = &rest[end..];
            }
            self.text(rest);
        }
    }

    /// A sentence, escaped, with commands between backticks as code, and options of commands unbroken.
    pub fn prose(&mut self, text: &str) {
        let pieces: Vec<&str> = text.split('`').collect();
        // Without a partner, a backtick is a letter like any other.
        if pieces.len().is_multiple_of(2) {
            return self.with_options(text);
        }
        for (at, piece) in pieces.into_iter().enumerate() {
            match at % 2 {
                0 => self.with_options(piece),
                _ => self.leaf("code", &[], piece),
            }
        }
    }

    /// Words, in which no line is broken within `chrt -f 51`.
    fn with_options(&mut self, text: &str) {
        let is_option =
            |word: &str| word.starts_with('-') && word[1..].starts_with(|c: char| c.is_alphabetic() || c == '-');
        let is_value = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
        let bound = units_bound(text);
        let words: Vec<&str> = bound.split(' ').collect();
        let mut at = 0;
        while at < words.len() {
            self.text(if at > 0 { " " } else { "" });
            let mut end = at + 1;
            while end < words.len() && (is_option(words[end]) || is_option(words[end - 1]) && is_value(words[end])) {
                end += 1;
            }
            match end - at {
                1 if !is_option(words[at]) => self.with_names(words[at]),
                _ => self.leaf("span", &[("class", "name")], &words[at..end].join(" ")),
            }
            at = end;
        }
    }

    /// Markup of this crate: pictures and style sheets. Never text of a result.
    pub fn trusted(&mut self, markup: &str) {
        self.push(markup);
    }

    /// Ends the document.
    ///
    /// # Errors
    /// The first of the writer.
    pub fn finish(self) -> io::Result<()> {
        self.outcome
    }
}

/// Safe in content and in quoted attributes; characters that HTML forbids become `�`.
fn escaped(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| {
        !matches!(letter, '&' | '<' | '>' | '"' | '\'' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            && !letter.is_control()
    };
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            // Direction marks can make one text look like another.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    Cow::Owned(out)
}

/// JSON for a `<script type="application/json">`, escaped so that it can't end the element or begin a comment.
pub(super) fn json_for_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                safe.push_str(&format!("\\u{:04x}", letter as u32));
            }
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        let mut page = Vec::new();
        let mut m = Markup::to(&mut page);
        m.element("p", &[("title", "\"><script>")], |m| m.text("</p><script>alert('1') & \u{1}\u{202e}"));
        m.finish().expect("memory takes it");
        assert_eq!(
            String::from_utf8_lossy(&page),
            "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;/p&gt;&lt;script&gt;alert(&#39;1&#39;) &amp; \u{fffd}\u{fffd}</p>\n"
        );
    }

    #[test]
    fn a_figure_and_its_unit_share_a_line_in_prose_only() {
        let mut page = Vec::new();
        let mut m = Markup::to(&mut page);
        m.leaf("p", &[], "8 ms late, 4 more");
        m.leaf("code", &[], "8 ms");
        m.finish().expect("memory takes it");
        assert_eq!(String::from_utf8_lossy(&page), "<p>8\u{a0}ms late, 4 more</p>\n<code>8 ms</code>");
    }

    #[test]
    fn long_names_break_where_their_parts_meet() {
        let mut page = Vec::new();
        let mut m = Markup::to(&mut page);
        m.with_names("in 15.6 ms std::this_thread::sleep_for");
        m.finish().expect("memory takes it");
        let says = "in 15.6 ms std::<wbr>this_<wbr>thread::<wbr>sleep_<wbr>for";
        assert_eq!(String::from_utf8_lossy(&page), says);
    }

    #[test]
    fn commands_in_a_sentence_are_code_and_stay_text() {
        let written = |text: &str| {
            let mut page = Vec::new();
            let mut m = Markup::to(&mut page);
            m.prose(text);
            m.finish().expect("memory takes it");
            String::from_utf8(page).expect("it is text")
        };
        assert_eq!(written("Run `a <b> 8 ms` for 8 ms"), "Run <code>a &lt;b&gt; 8 ms</code> for 8\u{a0}ms");
        assert_eq!(written("a ` alone"), "a ` alone");
        assert_eq!(
            written("so (chrt -f 1 PID), or nice -n 19 for it - or -1"),
            "so <span class=\"name\">(chrt -f 1</span> PID), or <span class=\"name\">nice -n 19</span> for it - or -1"
        );
    }

    #[test]
    fn json_stays_json_and_in_its_element() {
        let value = serde_json::json!({"name": "</script><!--<script>&\u{202e}"});
        let safe = json_for_script(&value.to_string());
        assert!(!safe.contains('<'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
