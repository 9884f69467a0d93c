//! The surroundings of every picture's marks: the outer element with its accessible name, heading, finding, legend and
//! note.

use super::svg::{Anchor, Canvas, number};
use super::{text, theme};

/// The forms of a picture. None is ever scaled, so that its letters keep their size: a page has both of its forms and shows
/// the one that its column has room for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// A document of its own, with its heading and its finding.
    #[default]
    Alone,
    /// For a page, which has heading and finding as text.
    Wide,
    /// For a page on a phone. Names stand above what they name, and there are fewer ticks.
    Narrow,
}

impl Form {
    /// Its width, px.
    pub const fn width(self) -> f64 {
        match self {
            Form::Alone => 720.0,
            // Two stand side by side on a screen of 1,280 px, three on one of 1,920.
            Form::Wide => 600.0,
            Form::Narrow => 340.0,
        }
    }

    /// The distinction in an `id`.
    fn suffix(self) -> &'static str {
        match self {
            Form::Alone => "",
            Form::Wide => "-wide",
            Form::Narrow => "-narrow",
        }
    }
}

/// The heading is bold, which is about an eighth wider.
const HEADING_PX: f64 = 18.0;
const FINDING_PX: f64 = 13.5;
const NOTE_LINES_MAX: usize = 12;

/// The caller's words around a picture.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Prefix of every `id` in the picture: pictures on one page need different ones.
    pub id: String,
    /// The heading; empty means the picture's own.
    pub heading: String,
    /// Conditions and source, in small type beneath: machine, kernel, what was held constant. May be empty.
    pub note: String,
    /// Its form.
    pub form: Form,
}

impl Frame {
    /// A frame with the picture's own heading and no note.
    #[cfg(test)]
    pub fn new(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// Whether it is for a phone.
    pub(super) fn is_narrow(&self) -> bool {
        self.form == Form::Narrow
    }

    /// The width, px.
    pub(super) fn width(&self) -> f64 {
        self.form.width()
    }

    /// The space at either side, px.
    pub(super) fn margin(&self) -> f64 {
        if self.is_narrow() { 8.0 } else { 16.0 }
    }

    /// One length of two, px.
    pub(super) fn either(&self, wide: f64, narrow: f64) -> f64 {
        if self.is_narrow() { narrow } else { wide }
    }

    /// The prefix with everything an `id` or a `url(#…)` could trip over replaced.
    pub(super) fn safe_id(&self) -> String {
        let tail: String =
            self.id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        format!("ovs-{tail}{}", self.form.suffix())
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

/// The names of rows: to their left, or above them where the picture is narrow.
pub(super) struct Names {
    /// Where the rows begin, px.
    pub left: f64,
    /// How much higher each row is, px.
    pub above: f64,
    margin: f64,
    most: f64,
}

impl Names {
    /// For names of these widths, with that gap behind them and at most so much room for both; `indent` is room that a
    /// row has of its own, right before it begins.
    pub(super) fn new(frame: &Frame, widths: impl Iterator<Item = f64>, (gap, indent, most): (f64, f64, f64)) -> Self {
        let (margin, widest) = (frame.margin(), widths.fold(60.0, f64::max));
        match frame.is_narrow() {
            true => Self { left: margin + indent, above: 20.0, margin, most: frame.width() - 2.0 * margin },
            false => {
                let left = (widest + margin + gap + indent).min(most);
                Self { left, above: 0.0, margin, most: left - margin - gap - indent }
            }
        }
    }

    /// The name of the row that begins at `y`, or beside it on that base line.
    pub(super) fn draw(&self, c: &mut Canvas, y: f64, baseline: f64, class: &str, name: &str) {
        let px = if class.ends_with(" b") { 13.3 } else { 12.0 };
        let name = text::fitted(name, px, self.most);
        match self.above > 0.0 {
            true => c.text((self.margin, y + self.above - 5.0), Anchor::Start, &format!("{class} halo"), &name),
            false => c.text((self.margin + self.most, baseline), Anchor::End, class, &name),
        }
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
    document("img", frame, words, legend, height, body)
}

/// A [`figure`] whose body has curves that take the keyboard's focus, so its parts are no mere decoration.
pub(super) fn figure_of_curves(
    frame: &Frame,
    words: &Words,
    legend: &[Key],
    height: f64,
    body: impl FnOnce(&mut Canvas),
) -> String {
    document("graphics-document", frame, words, legend, height, body)
}

fn document(
    role: &str,
    frame: &Frame,
    words: &Words,
    legend: &[Key],
    height: f64,
    body: impl FnOnce(&mut Canvas),
) -> String {
    let heading = if frame.heading.is_empty() { words.heading } else { &frame.heading };
    let (width, margin) = (frame.width(), frame.margin());
    let room = width - 2.0 * margin;
    let is_alone = frame.form == Form::Alone;
    let lines = |text, px, most| if is_alone { text::wrapped(text, px, room, most) } else { Vec::new() };
    let heading_lines = lines(heading, HEADING_PX * 1.12, 2);
    let finding_lines = lines(&words.finding, FINDING_PX, 6);
    let note = [words.caveat.as_str(), frame.note.as_str()]
        .into_iter()
        .filter(|s| !s.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let note_lines = text::wrapped(&note, 11.0, room, NOTE_LINES_MAX);

    let head =
        if is_alone { 14.0 } else { 0.0 } + 24.0 * heading_lines.len() as f64 + 18.5 * finding_lines.len() as f64;
    let rows = legend_rows(legend, width, margin);
    let legend_height = if rows.is_empty() { 5.0 } else { 10.0 + 19.0 * rows.len() as f64 };
    let body_top = head + legend_height + 24.0;
    let total = body_top + height + 16.0 * note_lines.len() as f64 + 16.0;

    // A page describes a picture once, whichever of its forms is shown.
    let described = Frame { form: if is_alone { Form::Alone } else { Form::Wide }, ..frame.clone() }.safe_id();
    let (title_id, desc_id) = (format!("{described}-title"), format!("{described}-desc"));
    let labelled = format!("{title_id} {desc_id}");
    let (width_text, height_text) = (number(width), number(total.ceil()));
    let view_box = format!("0 0 {width_text} {height_text}");
    let stop = if heading.ends_with(['?', '.', '!', '…']) { "" } else { "." };
    let mut c = if frame.is_narrow() { Canvas::without_tips() } else { Canvas::default() };
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("class", "ovs"),
        ("role", role),
        ("aria-labelledby", &labelled),
        ("viewBox", &view_box),
        ("width", &width_text),
        ("height", &height_text),
    ];
    c.element("svg", &attributes, |c| {
        if !frame.is_narrow() {
            c.element("title", &[("id", &title_id)], |c| c.chars(&format!("{heading}{stop} {}", words.finding)));
            c.element("desc", &[("id", &desc_id)], |c| {
                let all =
                    [words.detail.as_str(), &note].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(" ");
                c.chars(if all.is_empty() { &words.finding } else { &all });
            });
        }
        // A page has the sheet once.
        if is_alone {
            c.style(&theme::style_sheet());
        }
        c.rect((0.0, 0.0), (width, total.ceil()), "paper");
        let mut y = 14.0;
        for line in &heading_lines {
            y += 24.0;
            c.text((margin, y - 6.0), Anchor::Start, "ink h", line);
        }
        for line in &finding_lines {
            y += 18.5;
            c.text((margin, y - 3.0), Anchor::Start, "soft p", line);
        }
        for (i, row) in rows.iter().enumerate() {
            draw_legend_row(c, row, head + 22.0 + 19.0 * i as f64, width);
        }
        c.moved(0.0, body_top, body);
        for (i, line) in note_lines.iter().enumerate() {
            c.text((margin, body_top + height + 16.0 * (i + 1) as f64), Anchor::Start, "soft t", line);
        }
    });
    c.finish()
}

/// A picture that has nothing to show: the words alone.
pub(super) fn without_data(frame: &Frame, heading: &'static str, why: &str) -> String {
    figure(frame, &Words::not_enough(heading, why), &[], 0.0, |_| {})
}

fn legend_rows(legend: &[Key], width: f64, margin: f64) -> Vec<Vec<(f64, &Key)>> {
    let mut rows: Vec<Vec<(f64, &Key)>> = Vec::new();
    let mut x = width;
    for key in legend {
        let needs = 18.0 + text::width_px(&key.label, 12.0) + 18.0;
        if x + needs > width - margin {
            rows.push(Vec::new());
            x = margin;
        }
        if let Some(row) = rows.last_mut() {
            row.push((x, key));
        }
        x += needs;
    }
    rows
}

fn draw_legend_row(c: &mut Canvas, row: &[(f64, &Key)], baseline: f64, width: f64) {
    for (x, key) in row {
        c.rounded((*x, baseline - 9.5), (11.0, 11.0), 2.5, &format!("{} f", key.class), key.fill.as_deref());
        let class = if key.fill.is_some() { "ink" } else { &key.class };
        c.text((x + 17.0, baseline), Anchor::Start, class, &text::fitted(&key.label, 12.0, width - x - 17.0));
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
        let frame =
            Frame { id: "x".to_owned(), heading: "<&\">'".to_owned(), note: "a & b".to_owned(), ..Frame::default() };
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
        let rows = legend_rows(&keys, Form::Alone.width(), 16.0);
        assert!(rows.len() > 1 && rows.iter().map(Vec::len).sum::<usize>() == 9);
    }
}
