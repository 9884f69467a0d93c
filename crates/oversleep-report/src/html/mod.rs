//! The report as one self-contained page: it loads nothing, runs no script, and reads well in a browser of any width,
//! in a screen reader and on paper.
//!
//! Every text of a result is escaped on its way in (`markup`); if one slipped through, the page's own policy would
//! still forbid scripts and loads. `cards` has the findings, `tables` the measurements, `machine` the method, the facts
//! and the provenance, `style` the style sheet. `view` chooses what is shown.

mod bars;
mod cards;
mod comparison;
mod machine;
mod markup;
mod observed;
mod style;
mod tables;

use std::io::{self, Write};

use oversleep_record::ResultFile;

use crate::view::head::{self, heading};
use crate::view::pictures::{self, Picture, Wanted};
use markup::{Markup, json_for_script};

pub use comparison::page_of;

/// Largest result that is embedded as data; larger ones would make the page slow to open.
const EMBEDDED_BYTES_MAX: usize = 2 << 20;
/// No script, no load, no form: the page is text and drawings.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The page of a result.
///
/// # Errors
/// Those of `out`.
pub fn report(file: &ResultFile, out: &mut dyn Write) -> io::Result<()> {
    let rules = match &file.observation {
        Some(observation) => observed::sheet(&observation.worst),
        None => String::new(),
    };
    page(&heading(file, &head::title(file)), &rules, out, |m| body(m, file))
}

/// A page of that title; `rules` are added to the style sheet.
fn page(title: &str, rules: &str, out: &mut dyn Write, body: impl FnOnce(&mut Markup)) -> io::Result<()> {
    let mut m = Markup::to(out);
    m.trusted("<!DOCTYPE html>\n");
    m.element("html", &[("lang", "en")], |m| {
        m.element("head", &[], |m| {
            m.void("meta", &[("charset", "utf-8")]);
            m.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
            m.void("meta", &[("name", "viewport"), ("content", "width=device-width,initial-scale=1")]);
            m.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            m.void("link", &[("rel", "icon"), ("href", "data:,")]);
            m.leaf("title", &[], title);
            m.element("style", &[], |m| {
                m.trusted(&style::sheet());
                m.trusted(rules);
            });
        });
        m.element("body", &[], body);
    });
    m.trusted("\n");
    m.finish()
}

fn body(m: &mut Markup, file: &ResultFile) {
    let pictures = pictures::wanted(file, Wanted::ForPage);
    m.leaf("a", &[("class", "skip"), ("href", "#main")], "Skip to the findings");
    m.element("header", &[], |m| m.element("div", &[("class", "wide")], |m| top(m, file)));
    let mark = head::mark(head::modelled(file), head::wine(file), head::emulated(file).is_some());
    contents(m, mark.as_deref(), &places(file, !pictures.is_empty()));
    m.element("main", &[("id", "main"), ("class", "wide")], |m| {
        observed::verdict(m, file);
        cards::section(m, file);
        gallery(m, &pictures);
        tables::section(m, file);
        observed::sections(m, file);
        machine::method(m, file);
        machine::environment(m, file);
    });
    m.element("footer", &[], |m| {
        m.element("div", &[("class", "wide")], |m| {
            machine::provenance(m, file);
            embedded(m, file);
        });
    });
}

fn top(m: &mut Markup, file: &ResultFile) {
    m.leaf("h1", &[], &heading(file, &head::title(file)));
    for warning in head::warnings(file) {
        m.leaf("p", &[("class", "warning"), ("role", "note")], &warning);
    }
    for parts in [head::machine(file), head::run(file)] {
        m.leaf("p", &[], &parts.join(" · "));
    }
    for note in [head::reliability(file), head::left_out(file)].into_iter().flatten() {
        m.leaf("p", &[], &note);
    }
    if let Some(timestamps) = head::timestamps(file) {
        m.leaf("p", &[], &timestamps);
    }
    theme(m);
}

/// The parts of the page of a result: the id of each and its name.
fn places(file: &ResultFile, has_pictures: bool) -> Vec<(String, String)> {
    let places = [
        ("verdict", "Verdict"),
        ("findings", if file.observation.is_some() { "Causes" } else { "Findings" }),
        ("pictures", "Pictures"),
        ("measurements", "Measurements"),
        ("worst", "The worst waits"),
        ("method", "Method"),
        ("machine", "The machine"),
    ];
    let is_there = |(id, _): &(&str, &str)| match *id {
        "pictures" => has_pictures,
        "verdict" | "worst" => file.observation.is_some(),
        _ => true,
    };
    places.into_iter().filter(is_there).map(|(id, name)| (id.to_owned(), name.to_owned())).collect()
}

/// The line that stays in view: what is true of the whole page, and the way to its parts.
fn contents(m: &mut Markup, mark: Option<&str>, places: &[(String, String)]) {
    m.element("nav", &[("class", "bar"), ("aria-label", "On this page")], |m| {
        m.element("div", &[("class", "wide")], |m| {
            mark.iter().for_each(|mark| m.leaf("strong", &[("class", "mark")], mark));
            m.element("ul", &[], |m| {
                for (id, name) in places {
                    m.element("li", &[], |m| m.leaf("a", &[("href", &format!("#{id}"))], name));
                }
            });
        });
    });
}

/// The switch between light and dark.
fn theme(m: &mut Markup) {
    m.element("fieldset", &[("class", "theme")], |m| {
        m.leaf("legend", &[], "Colours");
        for (id, name) in [("theme-auto", "like the system"), ("theme-light", "light"), ("theme-dark", "dark")] {
            let input = [("type", "radio"), ("name", "theme"), ("id", id), ("checked", "")];
            m.void("input", if id == "theme-auto" { &input } else { &input[..3] });
            m.leaf("label", &[("for", id)], name);
        }
    });
}

fn gallery(m: &mut Markup, pictures: &[Picture]) {
    if pictures.is_empty() {
        return;
    }
    m.element("section", &[("id", "pictures"), ("aria-labelledby", "pictures-heading")], |m| {
        m.leaf("h2", &[("id", "pictures-heading")], "Pictures");
        m.element("div", &[("class", "pictures")], |m| {
            pictures.iter().for_each(|picture| figure(m, picture));
        });
    });
}

/// A picture in both forms, of which the page shows the one that has room, with its words as text.
fn figure(m: &mut Markup, Picture { name, heading, caption, forms, .. }: &Picture) {
    m.element("figure", &[("id", &format!("picture-{name}"))], |m| {
        m.element("div", &[("class", "plate")], |m| {
            m.element("div", &[("class", "words")], |m| {
                m.leaf("h3", &[], heading);
                // The same text is the picture's accessible name.
                if let Some(finding) = finding(&forms.wide) {
                    m.element("p", &[("aria-hidden", "true")], |m| m.trusted(finding));
                }
            });
            for (form, svg) in [("form-wide", &forms.wide), ("form-narrow", &forms.narrow)] {
                m.element("div", &[("class", form)], |m| m.trusted(svg));
            }
            m.element("figcaption", &[], |m| {
                m.text(caption);
                figures(m, &forms.wide);
            });
        });
    });
}

/// A picture's finding: what follows its heading in its title.
fn finding(svg: &str) -> Option<&str> {
    let title = texts(svg, "<title id=").next()?.split_once('>')?.1;
    let ends = [". ", "? ", "! ", "… "].into_iter().filter_map(|end| title.find(end).map(|at| at + end.len())).min()?;
    Some(&title[ends..])
}

/// The tooltips of a picture's marks, for readers without a pointer.
fn figures(m: &mut Markup, svg: &str) {
    if !svg.contains("<title>") {
        return;
    }
    m.element("details", &[("class", "bulk")], |m| {
        m.leaf("summary", &[], "The figures in words");
        m.element("ul", &[("class", "evidence figures")], |m| {
            texts(svg, "<title>").for_each(|tip| m.element("li", &[], |m| m.trusted(tip)));
        });
    });
}

/// The contents of all titles that begin like this. They are escaped already, in the same way in SVG and HTML.
fn texts<'a>(svg: &'a str, begin: &'static str) -> impl Iterator<Item = &'a str> {
    svg.split(begin).skip(1).filter_map(|rest| rest.split("</title>").next())
}

/// A writer for embedded data that gives up at a limit, because a result can be much longer than the available memory.
struct Embedded(Vec<u8>);

impl Write for Embedded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > EMBEDDED_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The result itself, so that the page alone suffices for a comparison or a new report.
fn embedded(m: &mut Markup, file: &ResultFile) {
    let mut bytes = Embedded(Vec::new());
    if file.write_to(&mut bytes).is_err() {
        m.leaf("p", &[], "The result is too large to embed in this page; it is in its own file.");
        return;
    }
    let bytes = bytes.0;
    m.leaf("p", &[], "The result is embedded in this page as JSON, in the element with the id “result”.");
    m.element("script", &[("type", "application/json"), ("id", "result")], |m| {
        m.trusted(&json_for_script(&String::from_utf8_lossy(&bytes)));
    });
}

#[cfg(test)]
mod tests;
