//! The surroundings of every picture's marks: the outer element with its accessible name, heading, finding, legend and
//! note.

use super::svg::{Anchor, Canvas, number};
use super::{text, theme};

/// Width of every picture, px. Pages scale it down with the column it stands in.
pub const WIDTH: f64 = 760.0;

/// The heading is bold, which is about an eighth wider.
const HEADING_PX: f64 = 18.0;
const FINDING_PX: f64 = 13.5;

/// The caller's words around a picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Prefix of every `id` in the picture: pictures on one page need different ones.
    pub id: String,
    /// The heading; empty means the picture's own.
    pub heading: String,
    /// Conditions and source, in small type beneath: machine, kernel, what was held constant. May be empty.
    pub note: String,
}

impl Frame {
    /// A frame with the picture's own heading and no note.
    #[cfg(test)]
    pub fn new(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// The prefix with everything an `id` or a `url(#…)` could trip over replaced.
    pub(super) fn safe_id(&self) -> String {
        let tail: String =
            self.id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        format!("ovs-{tail}")
    }
}

/// The words of a picture.
pub(super) struct Words {
    /// Heading when the caller gave none.
    pub heading: &'static str,
    /// The finding: one or two sentences with figures, shown under the heading.
    pub finding: String,
    /// The figures a reader who can't see the marks needs.
    pub detail: String,
    /// What was left out or moved to fit, if anything; shown before the caller's note.
    pub caveat: String,
}

impl Words {
    /// The words of a picture without enough data.
    pub(super) fn not_enough(heading: &'static str, why: &str) -> Self {
        Self { heading, finding: format!("Not enough data: {why}."), detail: String::new(), caveat: String::new() }
    }
}

/// One entry of a legend.
pub(super) struct Key {
    /// Colour class of the swatch.
    pub class: String,
    /// A paint that overrides the class.
    pub fill: Option<String>,
    /// The words beside it.
    pub label: String,
}

impl Key {
    /// An entry in a theme colour.
    pub(super) fn new(class: &str, label: &str) -> Self {
        Self { class: class.to_owned(), fill: None, label: label.to_owned() }
    }
}

/// The finished document: `body` draws from y = 0 and may use `height` px.
pub(super) fn figure(
    frame: &Frame,
    words: &Words,
    legend: &[Key],
    height: f64,
    body: impl FnOnce(&mut Canvas),
) -> String {
    let id = frame.safe_id();
    let heading = if frame.heading.is_empty() { words.heading } else { &frame.heading };
    let heading_lines = text::wrapped(heading, HEADING_PX * 1.12, WIDTH - 32.0, 2);
    let finding_lines = text::wrapped(&words.finding, FINDING_PX, WIDTH - 32.0, 4);
    let note = [words.caveat.as_str(), frame.note.as_str()]
        .into_iter()
        .filter(|s| !s.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let note_lines = text::wrapped(&note, 11.0, WIDTH - 32.0, 4);

    let head = 14.0 + 24.0 * heading_lines.len() as f64 + 18.5 * finding_lines.len() as f64;
    let rows = legend_rows(legend);
    let legend_height = if rows.is_empty() { 5.0 } else { 10.0 + 19.0 * rows.len() as f64 };
    let body_top = head + legend_height + 24.0;
    let total = body_top + height + 16.0 * note_lines.len() as f64 + 16.0;

    let (title_id, desc_id) = (format!("{id}-title"), format!("{id}-desc"));
    let labelled = format!("{title_id} {desc_id}");
    let (width_text, height_text) = (number(WIDTH), number(total.ceil()));
    let view_box = format!("0 0 {width_text} {height_text}");
    // A page that is too narrow for the picture shows the heading as text, and hides the picture's head.
    let head_text = format!("--ovs-head:{}", number(head));
    let stop = if heading.ends_with(['?', '.', '!', '…']) { "" } else { "." };
    let mut c = Canvas::default();
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("class", "ovs"),
        ("role", "img"),
        ("aria-labelledby", &labelled),
        ("viewBox", &view_box),
        ("width", &width_text),
        ("height", &height_text),
        ("style", &head_text),
    ];
    c.element("svg", &attributes, |c| {
        c.element("title", &[("id", &title_id)], |c| c.chars(&format!("{heading}{stop} {}", words.finding)));
        c.element("desc", &[("id", &desc_id)], |c| {
            let all =
                [words.detail.as_str(), &note].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(" ");
            c.chars(if all.is_empty() { &words.finding } else { &all });
        });
        c.style(&theme::style_sheet());
        c.rect((0.0, 0.0), (WIDTH, total.ceil()), "paper");
        c.group("head", |c| {
            let mut y = 14.0;
            for line in &heading_lines {
                y += 24.0;
                c.text((16.0, y - 6.0), Anchor::Start, "ink h", line);
            }
            for line in &finding_lines {
                y += 18.5;
                c.text((16.0, y - 3.0), Anchor::Start, "soft p", line);
            }
        });
        for (i, row) in rows.iter().enumerate() {
            draw_legend_row(c, row, head + 22.0 + 19.0 * i as f64);
        }
        c.moved(0.0, body_top, body);
        for (i, line) in note_lines.iter().enumerate() {
            c.text((16.0, body_top + height + 16.0 * (i + 1) as f64), Anchor::Start, "soft t", line);
        }
    });
    c.finish()
}

/// A picture that has nothing to show: the words alone.
pub(super) fn without_data(frame: &Frame, heading: &'static str, why: &str) -> String {
    figure(frame, &Words::not_enough(heading, why), &[], 0.0, |_| {})
}

fn legend_rows(legend: &[Key]) -> Vec<Vec<(f64, &Key)>> {
    let mut rows: Vec<Vec<(f64, &Key)>> = Vec::new();
    let mut x = WIDTH;
    for key in legend {
        let needs = 18.0 + text::width_px(&key.label, 12.0) + 18.0;
        if x + needs > WIDTH - 16.0 {
            rows.push(Vec::new());
            x = 16.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, key));
        }
        x += needs;
    }
    rows
}

fn draw_legend_row(c: &mut Canvas, row: &[(f64, &Key)], baseline: f64) {
    for (x, key) in row {
        c.rounded((*x, baseline - 9.5), (11.0, 11.0), 2.5, &format!("{} f", key.class), key.fill.as_deref());
        let class = if key.fill.is_some() { "ink" } else { &key.class };
        c.text((x + 17.0, baseline), Anchor::Start, class, &text::fitted(&key.label, 12.0, WIDTH - 60.0));
    }
}

/// The diagonal hatching for what is unknown or isn't counted. Returns the paint that uses it.
pub(super) fn hatch(c: &mut Canvas, id: &str) -> String {
    let name = format!("{id}-hatch");
    let attributes = [
        ("id", name.as_str()),
        ("width", "5"),
        ("height", "5"),
        ("patternUnits", "userSpaceOnUse"),
        ("patternTransform", "rotate(45)"),
    ];
    c.element("defs", &[], |c| {
        c.element("pattern", &attributes, |c| {
            c.rect((0.0, 0.0), (5.0, 5.0), "band f");
            c.rect((0.0, 0.0), (2.0, 5.0), "axis f");
        });
    });
    format!("url(#{name})")
}

#[cfg(test)]
mod tests {
    use super::super::check::well_formed;
    use super::*;

    #[test]
    fn ids_are_safe_and_carry_the_prefix() {
        assert_eq!(Frame::new("a b\"<é>1").safe_id(), "ovs-a_b____1");
        let svg = without_data(&Frame::new("x"), "Heading", "none came");
        well_formed(&svg);
        assert!(
            svg.contains(r#"aria-labelledby="ovs-x-title ovs-x-desc""#) && svg.contains("Not enough data: none came.")
        );
    }

    #[test]
    fn the_callers_words_are_escaped_and_win() {
        let frame = Frame { id: "x".to_owned(), heading: "<&\">'".to_owned(), note: "a & b".to_owned() };
        let svg = without_data(&frame, "Heading", "none came");
        well_formed(&svg);
        assert!(svg.contains("&lt;&amp;&quot;&gt;&#39;") && svg.contains("a &amp; b") && !svg.contains("Heading"));
    }

    #[test]
    fn the_accessible_name_is_punctuated_once() {
        for (heading, name) in [("Line or tube?", ">Line or tube? Not enough"), ("One sleep", ">One sleep. Not enough")]
        {
            let frame = Frame { heading: heading.to_owned(), ..Frame::new("x") };
            assert!(without_data(&frame, "Heading", "none came").contains(name), "{name}");
        }
    }

    #[test]
    fn a_long_legend_wraps() {
        let keys: Vec<Key> = (0..9).map(|i| Key::new("c0", &format!("a long family name {i}"))).collect();
        let rows = legend_rows(&keys);
        assert!(rows.len() > 1 && rows.iter().map(Vec::len).sum::<usize>() == 9);
    }
}
