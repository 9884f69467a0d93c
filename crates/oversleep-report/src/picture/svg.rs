//! The element writer: the only place that produces markup.
//!
//! It closes what it opens (groups take a closure), escapes every text and attribute, and writes numbers with at most
//! two decimals, so equal inputs give equal bytes. Nothing here knows what is being drawn.

/// The anchor of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The given x is the text's left end.
    Start,
    /// The given x is the text's centre.
    Middle,
    /// The given x is the text's right end.
    End,
}

/// A growing piece of SVG.
#[derive(Debug, Default)]
pub struct Canvas {
    out: String,
    without_tips: bool,
}

impl Canvas {
    /// A canvas that leaves tooltips out, for screens without a pointer.
    pub fn without_tips() -> Self {
        Self { without_tips: true, ..Self::default() }
    }

    /// The markup so far.
    pub fn finish(self) -> String {
        self.out
    }

    /// An element with attributes and children.
    pub fn element(&mut self, name: &str, attributes: &[(&str, &str)], body: impl FnOnce(&mut Self)) {
        self.open(name, attributes);
        self.out.push('>');
        body(self);
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }

    /// An element without children.
    pub fn leaf(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.open(name, attributes);
        self.out.push_str("/>");
    }

    /// Text content, escaped.
    pub fn chars(&mut self, text: &str) {
        self.out.push_str(&escaped(text));
    }

    /// A group that carries a class.
    pub fn group(&mut self, class: &str, body: impl FnOnce(&mut Self)) {
        self.element("g", &[("class", class)], body);
    }

    /// A group of marks with a tooltip.
    pub fn marks(&mut self, class: &str, tip: &str, body: impl FnOnce(&mut Self)) {
        self.group(class, |c| {
            if !c.without_tips {
                c.element("title", &[], |c| c.chars(tip));
            }
            body(c);
        });
    }

    /// A curve with its name. It lights up under the pointer and, on pages for wide screens, with the keyboard's focus.
    pub fn curve(&mut self, class: &str, name: &str, body: impl FnOnce(&mut Self)) {
        let class = format!("one {class}");
        let focus = [("class", class.as_str()), ("tabindex", "0"), ("role", "graphics-symbol"), ("aria-label", name)];
        self.element("g", if self.without_tips { &focus[..1] } else { &focus }, body);
    }

    /// A group moved by the given distance.
    pub fn moved(&mut self, dx: f64, dy: f64, body: impl FnOnce(&mut Self)) {
        let transform = format!("translate({} {})", number(dx), number(dy));
        self.element("g", &[("transform", &transform)], body);
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let d = format!("M{} {}L{} {}", number(from.0), number(from.1), number(to.0), number(to.1));
        self.path(&d, class);
    }

    /// A path given by its data.
    pub fn path(&mut self, d: &str, class: &str) {
        self.leaf("path", &[("class", class), ("d", d)]);
    }

    /// A line through the points, in their order; nothing when there are fewer than two.
    pub fn polyline(&mut self, points: &[(f64, f64)], class: &str) {
        if points.len() < 2 {
            return;
        }
        let mut d = String::with_capacity(points.len() * 12);
        for (i, (x, y)) in points.iter().enumerate() {
            d.push(if i == 0 { 'M' } else { 'L' });
            d.push_str(&number(*x));
            d.push(' ');
            d.push_str(&number(*y));
        }
        self.path(&d, class);
    }

    /// Many equal round dots as one path (a zero-length line with round ends), because a thousand circles cost six
    /// times the bytes.
    pub fn dots(&mut self, points: &[(f64, f64)], class: &str) {
        if points.is_empty() {
            return;
        }
        let mut d = String::with_capacity(points.len() * 12);
        for (x, y) in points {
            d.push_str(&format!("M{} {}h0", number(*x), number(*y)));
        }
        self.path(&d, class);
    }

    /// A rectangle; a negative size draws nothing.
    pub fn rect(&mut self, corner: (f64, f64), size: (f64, f64), class: &str) {
        self.rounded(corner, size, 0.0, class, None);
    }

    /// A rectangle with rounded corners and, when given, a paint that overrides the class's fill.
    pub fn rounded(&mut self, corner: (f64, f64), size: (f64, f64), radius: f64, class: &str, fill: Option<&str>) {
        if !(size.0 > 0.0 && size.1 > 0.0) {
            return;
        }
        let (x, y, w, h) = (number(corner.0), number(corner.1), number(size.0), number(size.1));
        let r = number(radius.min(size.0 / 2.0).min(size.1 / 2.0));
        let style = fill.map(|f| format!("fill:{f}"));
        let mut attributes = vec![("class", class), ("x", &x), ("y", &y), ("width", &w), ("height", &h)];
        if radius > 0.0 {
            attributes.push(("rx", &r));
        }
        if let Some(style) = &style {
            attributes.push(("style", style));
        }
        self.leaf("rect", &attributes);
    }

    /// A circle.
    pub fn circle(&mut self, centre: (f64, f64), radius: f64, class: &str) {
        let (x, y, r) = (number(centre.0), number(centre.1), number(radius));
        self.leaf("circle", &[("class", class), ("cx", &x), ("cy", &y), ("r", &r)]);
    }

    /// One line of text on its baseline.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let (x, y) = (number(at.0), number(at.1));
        let mut attributes = vec![("class", class), ("x", x.as_str()), ("y", y.as_str())];
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => attributes.push(("text-anchor", "middle")),
            Anchor::End => attributes.push(("text-anchor", "end")),
        }
        self.element("text", &attributes, |c| c.chars(text));
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.out.push('<');
        self.out.push_str(name);
        for (key, value) in attributes {
            self.out.push(' ');
            self.out.push_str(key);
            self.out.push_str("=\"");
            self.out.push_str(&escaped(value));
            self.out.push('"');
        }
    }

    /// The style sheet. It comes from this crate and contains no markup, and escaping would break its selectors.
    pub fn style(&mut self, css: &str) {
        debug_assert!(!css.contains(['<', '&']), "a style sheet must not hold markup");
        self.out.push_str("<style>");
        self.out.push_str(css);
        self.out.push_str("</style>");
    }
}

/// A coordinate: at most two decimals, no trailing zeros, no negative zero. A value that isn't finite becomes 0, so
/// that a bug in a picture can misplace a mark but never break the document.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let mut text = format!("{value:.2}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if text == "-0" { "0".to_owned() } else { text }
}

/// Text made safe for content and for attributes; characters XML 1.0 forbids become U+FFFD.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in text.chars() {
        match ch {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            // Direction marks can make one label look like another.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_stable() {
        let cases = [
            (1.0, "1"),
            (1.005, "1"),
            (-0.001, "0"),
            (12.345, "12.35"),
            (0.5, "0.5"),
            (100.0, "100"),
            (f64::NAN, "0"),
            (f64::NEG_INFINITY, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value}");
        }
    }

    #[test]
    fn what_xml_reserves_or_forbids_is_replaced() {
        assert_eq!(escaped("a<b>&\"c'\u{0}"), "a&lt;b&gt;&amp;&quot;c&#39;\u{fffd}");
    }

    #[test]
    fn groups_close_themselves() {
        let mut c = Canvas::default();
        c.marks("a", "tip", |c| c.rect((0.0, 0.0), (1.0, 2.0), "b"));
        let want = r#"<g class="a"><title>tip</title><rect class="b" x="0" y="0" width="1" height="2"/></g>"#;
        assert_eq!(c.finish(), want);
    }

    #[test]
    fn a_rectangle_without_area_is_not_drawn() {
        let mut c = Canvas::default();
        c.rect((0.0, 0.0), (-1.0, 2.0), "b");
        c.rect((0.0, 0.0), (f64::NAN, 2.0), "b");
        assert_eq!(c.finish(), "");
    }
}
