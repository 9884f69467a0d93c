//! Bars of the parts of a lateness.

use oversleep_record::part::Part;

use super::markup::Markup;
use crate::view::table::{Split, letter};
use crate::words::percent;

/// A bar in which each part has the width of its share.
pub fn bar(m: &mut Markup, split: &Split) {
    let parts: Vec<(Part, f64)> =
        split.parts.iter().map(|&(part, millionths)| (part, f64::from(millionths) / 1e6)).collect();
    let words: Vec<String> = parts.iter().map(|(part, share)| format!("{} {}", part.name(), percent(*share))).collect();
    m.element("div", &[("class", "split"), ("role", "img"), ("aria-label", &words.join(", "))], |m| {
        for ((part, share), words) in parts.iter().zip(&words) {
            let width = format!("width:{:.2}%", share * 100.0);
            let title = format!("{words}: {}", part.about());
            let letter = if *share > 0.06 { letter(*part).to_string() } else { String::new() };
            m.leaf("span", &[("class", &format!("p-{}", part.name())), ("style", &width), ("title", &title)], &letter);
        }
    });
}

/// The meaning of the colours and letters.
pub fn legend(m: &mut Markup, parts: impl Iterator<Item = Part>) {
    keys(m, parts.map(|part| (part, None, part.about())), None);
}

/// The meaning of colours and letters with a figure of each part, with what it is, and what is said of the others.
pub fn keys(m: &mut Markup, parts: impl Iterator<Item = (Part, Option<String>, &'static str)>, others: Option<String>) {
    m.element("ul", &[("class", "legend")], |m| {
        for (part, figure, about) in parts {
            m.element("li", &[], |m| {
                m.leaf("span", &[("class", &format!("key p-{}", part.name()))], &letter(part).to_string());
                m.leaf("b", &[], part.name());
                figure.iter().for_each(|figure| m.text(&format!(" {figure}")));
                m.text(&format!(" {about}"));
            });
        }
        others.iter().for_each(|others| m.leaf("li", &[], others));
    });
}
