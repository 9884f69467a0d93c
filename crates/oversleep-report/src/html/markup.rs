//! Markup that is balanced and escaped by construction: elements close themselves, text and attributes are escaped.

use crate::words::units_bound;

/// A document under construction.
#[derive(Default)]
pub(super) struct Markup {
    out: String,
}

impl Markup {
    /// An element with its content.
    pub fn element(&mut self, name: &str, attributes: &[(&str, &str)], content: impl FnOnce(&mut Markup)) {
        self.open(name, attributes);
        content(self);
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
        if matches!(
            name,
            "p" | "li" | "tr" | "h1" | "h2" | "h3" | "h4" | "section" | "table" | "figure" | "article" | "details"
        ) {
            self.out.push('\n');
        }
    }

    /// An element that holds text only. In a paragraph no line is broken between a figure and its unit.
    pub fn leaf(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        let bound = (name == "p").then(|| units_bound(text));
        self.element(name, attributes, |m| m.text(bound.as_deref().unwrap_or(text)));
    }

    /// An element that has no content and no end.
    pub fn void(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.open(name, attributes);
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.out.push('<');
        self.out.push_str(name);
        for (attribute, value) in attributes {
            self.out.push(' ');
            self.out.push_str(attribute);
            self.out.push_str("=\"");
            escape_into(&mut self.out, value);
            self.out.push('"');
        }
        self.out.push('>');
    }

    /// Text, escaped.
    pub fn text(&mut self, text: &str) {
        escape_into(&mut self.out, text);
    }

    /// Markup of this crate: pictures and style sheets. Never text of a result.
    pub fn trusted(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// The document.
    pub fn finish(self) -> String {
        self.out
    }
}

/// Safe in content and in quoted attributes; characters that HTML forbids become `�`.
fn escape_into(out: &mut String, text: &str) {
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
        let mut m = Markup::default();
        m.element("p", &[("title", "\"><script>")], |m| m.text("</p><script>alert('1') & \u{1}\u{202e}"));
        assert_eq!(
            m.finish(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;/p&gt;&lt;script&gt;alert(&#39;1&#39;) &amp; \u{fffd}\u{fffd}</p>\n"
        );
    }

    #[test]
    fn a_figure_and_its_unit_share_a_line_in_prose_only() {
        let mut m = Markup::default();
        m.leaf("p", &[], "8 ms late, 4 more");
        m.leaf("code", &[], "8 ms");
        assert_eq!(m.finish(), "<p>8\u{a0}ms late, 4 more</p>\n<code>8 ms</code>");
    }

    #[test]
    fn json_stays_json_and_in_its_element() {
        let value = serde_json::json!({"name": "</script><!--<script>&\u{202e}"});
        let safe = json_for_script(&value.to_string());
        assert!(!safe.contains('<'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
