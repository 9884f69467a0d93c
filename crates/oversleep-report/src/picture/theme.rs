//! Colours and type: one table of colours, each with its light and its dark value, and the style sheet made from it.
//!
//! Marks name a colour by class and draw with `currentColor`. A page may set any `--ovs-<name>` property and thereby
//! override both schemes; without a page the stand-alone file follows `prefers-color-scheme`. Each colour is declared
//! twice, plain and through `var()`, because several SVG viewers know no custom properties. Every selector starts with
//! `.ovs`, because a `<style>` in an inline picture applies to the whole page.

use std::fmt::Write as _;

/// One colour: its class and property name, and its value on light and on dark paper.
struct Colour(&'static str, &'static str, &'static str);

const PAPER: Colour = Colour("paper", "#ffffff", "#14171c");

/// Text on paper reaches 4.5:1 in both schemes. Series colours differ in lightness as well as in hue, so that they
/// survive the common colour-vision deficiencies; `coarse` and `precise` are red and blue on purpose.
const COLOURS: [Colour; 21] = [
    Colour("ink", "#1b2028", "#eceef1"),
    Colour("soft", "#59626e", "#a9b1bc"),
    Colour("grid", "#e6e9ed", "#282e37"),
    Colour("axis", "#9aa3af", "#69727e"),
    Colour("band", "#f3f4f6", "#1d2229"),
    Colour("coarse", "#d0263a", "#ff7078"),
    Colour("precise", "#1763c6", "#67a9ff"),
    Colour("accent", "#00795c", "#45cda3"),
    Colour("calm", "#7d93b2", "#7389a8"),
    Colour("mute", "#b9c0c9", "#4d5661"),
    Colour("c0", "#1763c6", "#67a9ff"),
    Colour("c1", "#b85300", "#ffa657"),
    Colour("c2", "#00795c", "#45cda3"),
    Colour("c3", "#8f3a92", "#e39be0"),
    Colour("c4", "#766000", "#dfca62"),
    Colour("c5", "#4a5563", "#b4bdc9"),
    Colour("c6", "#a8244f", "#ff96ae"),
    Colour("c7", "#0b6f85", "#72d2e6"),
    // Text drawn on a fill: the fills are the same in both schemes, so this is too.
    Colour("onfill", "#14171c", "#14171c"),
    Colour("onshade", "#ffffff", "#ffffff"),
    Colour("warn", "#9a5b00", "#f2b75c"),
];

/// Number of series colours, `c0` to `c7`.
const SERIES: usize = 8;

/// Fills for stacked parts: light enough to carry dark text in either scheme.
const FILLS: [&str; 6] = ["#f2a93b", "#c79be0", "#4fc3a1", "#7fbdf0", "#e6d85c", "#f29a9a"];

/// Fills for a quantity, from low to high; monotone in lightness, readable with dark text below the last two steps.
pub const RAMP: [&str; 7] = ["#fff3d6", "#fde0a6", "#fbc274", "#f39a55", "#df6b48", "#b9404b", "#7c2350"];

const SHAPES: &str = ".ovs{\
font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-variant-numeric:tabular-nums}\
.ovs text{fill:currentColor;font-size:12px}\
.ovs .s{fill:none;stroke:currentColor;stroke-width:1}\
.ovs .f{fill:currentColor;stroke:none}\
.ovs .w2{stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
.ovs .w3{stroke-width:3;stroke-linecap:round}\
.ovs .dash{stroke-dasharray:4 3}\
.ovs .thin{opacity:.45}\
.ovs .dots{fill:none;stroke:currentColor;stroke-width:4;stroke-linecap:round;opacity:.62}\
.ovs .small{stroke-width:3.4;opacity:.6}\
.ovs .under{stroke-width:6.5;opacity:.5}\
.ovs .under.small{stroke-width:4.5}\
.ovs text.h{font-size:18px;font-weight:650}\
.ovs text.p{font-size:13.5px}\
.ovs text.t{font-size:11px}\
.ovs text.b{font-weight:650}\
.ovs .lines:is(:hover,:has(.one:focus-visible)) .one{opacity:.16}\
.ovs .lines .one:is(:hover,:focus-visible){opacity:1}";

/// The colour scheme that a page requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Dark marks on light paper.
    Light,
    /// Light marks on dark paper.
    Dark,
}

/// The declarations that force a scheme, for a page with a switch of its own: `[data-theme=dark]{…}`. Without them a
/// picture follows the reader's `prefers-color-scheme`.
pub fn page_variables(scheme: Scheme) -> String {
    let mut css = String::new();
    for Colour(name, light, dark) in std::iter::once(&PAPER).chain(&COLOURS) {
        let value = if scheme == Scheme::Light { light } else { dark };
        let _ = write!(css, "--ovs-{name}:{value};");
    }
    css
}

/// The style sheet that a picture alone carries, and a page has once.
pub fn style_sheet() -> String {
    let mut light = String::from(SHAPES);
    let mut dark = String::new();
    for Colour(name, on_light, on_dark) in &COLOURS {
        let _ = write!(light, ".ovs .{name}{{color:{on_light};color:var(--ovs-{name},{on_light})}}");
        if on_light != on_dark {
            let _ = write!(dark, ".ovs .{name}{{color:var(--ovs-{name},{on_dark})}}");
        }
    }
    let Colour(_, paper_light, paper_dark) = PAPER;
    let _ = write!(light, ".ovs .paper{{fill:{paper_light};fill:var(--ovs-paper,{paper_light})}}");
    let _ = write!(dark, ".ovs .paper{{fill:var(--ovs-paper,{paper_dark})}}");
    let halo = "paint-order:stroke;stroke-width:3.5px;stroke-linejoin:round";
    let _ = write!(light, ".ovs .halo{{{halo};stroke:{paper_light};stroke:var(--ovs-paper,{paper_light})}}");
    let _ = write!(dark, ".ovs .halo{{stroke:var(--ovs-paper,{paper_dark})}}");
    // Paper is light even when the screen is not.
    format!("{light}@media screen and (prefers-color-scheme:dark){{{dark}}}")
}

/// A document in the light scheme alone, for viewers that know neither custom properties nor conditions: they would take the
/// second declaration of each colour, and draw it black.
pub fn for_plain_viewers(svg: &str) -> String {
    let light = match svg.split_once("@media ") {
        Some((before, after)) => format!("{before}{}", after.find("</style>").map_or("", |at| &after[at..])),
        None => svg.to_owned(),
    };
    // Fonts have a bold face, and some viewers know no weight between.
    let light = light.replace("font-weight:650", "font-weight:700");
    let mut plain = String::with_capacity(light.len());
    for (place, part) in light.split(";").enumerate() {
        let is_variable = part.split_once(':').is_some_and(|(_, value)| value.starts_with("var(--ovs-"));
        // What follows the declaration closes its rule.
        let kept =
            if is_variable { part.split_once('}').map(|(_, rest)| format!("}}{rest}")) } else { Some(part.to_owned()) };
        match kept {
            Some(kept) if is_variable => plain.push_str(&kept),
            Some(kept) => {
                if place > 0 {
                    plain.push(';');
                }
                plain.push_str(&kept);
            }
            None => {}
        }
    }
    plain
}

/// The class of the n-th series; colours repeat after eight, so pictures with more series label each one directly.
pub(super) fn series_class(index: usize) -> &'static str {
    COLOURS[10 + index % SERIES].0
}

/// The fill of the n-th part of a stacked bar.
pub(super) fn part_fill(index: usize) -> &'static str {
    FILLS[index % FILLS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG relative luminance.
    fn luminance(hex: &str) -> f64 {
        let channel = |i: usize| {
            let v = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        if a > b { a / b } else { b / a }
    }

    #[test]
    fn everything_written_on_paper_is_readable() {
        let not_text = ["grid", "axis", "band", "calm", "mute", "onfill", "onshade"];
        for Colour(name, light, dark) in COLOURS.iter().filter(|c| !not_text.contains(&c.0)) {
            assert!(contrast(light, PAPER.1) >= 4.5, "{name} on light paper: {:.2}", contrast(light, PAPER.1));
            assert!(contrast(dark, PAPER.2) >= 4.5, "{name} on dark paper: {:.2}", contrast(dark, PAPER.2));
        }
        for fill in FILLS {
            assert!(contrast(fill, "#14171c") >= 4.5, "text on {fill}");
        }
    }

    #[test]
    fn series_classes_are_the_series_colours() {
        for i in 0..SERIES {
            assert_eq!(series_class(i), format!("c{i}"));
        }
        assert_eq!(series_class(SERIES), "c0");
    }

    #[test]
    fn every_selector_stays_inside_a_picture() {
        let css = style_sheet();
        for rule in
            css.replace("@media screen and (prefers-color-scheme:dark){", "").split('}').filter(|r| !r.is_empty())
        {
            assert!(rule.starts_with(".ovs"), "{rule}");
        }
        assert!(page_variables(Scheme::Dark).contains("--ovs-paper:#14171c;"));
    }

    #[test]
    fn a_plain_viewer_finds_each_colour_once() {
        let picture = format!("<svg><style>{}</style><text>a; b: var(x)</text></svg>", style_sheet());
        let plain = for_plain_viewers(&picture);
        assert!(!plain.contains("var(--") && !plain.contains("@media"), "{plain}");
        assert!(plain.contains(".ovs .ink{color:#1b2028}.ovs .soft{color:#59626e}"), "{plain}");
        assert!(plain.contains(".ovs .paper{fill:#ffffff}"), "{plain}");
        assert!(plain.ends_with("</style><text>a; b: var(x)</text></svg>"), "{plain}");
        assert_eq!(plain.matches('{').count(), plain.matches('}').count());
    }
}
