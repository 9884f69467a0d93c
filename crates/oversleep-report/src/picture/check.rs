//! For tests only: checks for well-formed XML with unique ids, and for numbers wherever a number belongs.

use std::collections::HashSet;

/// Panics with the position of the fault, unless the text is one well-formed element.
pub fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    let mut roots = 0;
    while let Some(start) = rest.find('<') {
        assert_clean(&rest[..start]);
        assert!(!open.is_empty() || rest[..start].trim().is_empty(), "text outside the root: {}", &rest[..start]);
        let end = rest.find('>').unwrap_or_else(|| panic!("unclosed tag: {}", head(&rest[start..])));
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "a tag within a tag: {}", head(tag));
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closing tag");
        } else {
            roots += usize::from(open.is_empty());
            attributes(tag);
            if !tag.ends_with('/') {
                open.push(tag.split(' ').next().unwrap_or(""));
            }
        }
        rest = &rest[end + 1..];
    }
    assert!(
        open.is_empty() && rest.trim().is_empty() && roots == 1,
        "unclosed: {open:?}, after the end: {}",
        head(rest)
    );
    assert!(!svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("<script"), "a broken number or a script");
    unique_ids(svg);
}

fn head(text: &str) -> String {
    text.chars().take(80).collect()
}

fn assert_clean(text: &str) {
    for piece in text.split('&').skip(1) {
        let known = ["lt;", "gt;", "amp;", "quot;", "#39;"].iter().any(|e| piece.starts_with(e));
        assert!(known, "a bare ampersand: &{}", head(piece));
    }
    assert!(!text.contains('>') || !text.contains('"'), "a stray bracket: {}", head(text));
}

fn attributes(tag: &str) {
    let body = tag.strip_suffix('/').unwrap_or(tag);
    let (_, list) = body.split_once(' ').unwrap_or((body, ""));
    let mut parts = list.split('"');
    let mut seen = HashSet::new();
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        let name =
            name.trim().strip_suffix('=').unwrap_or_else(|| panic!("an attribute without a value: {}", head(tag)));
        assert!(seen.insert(name), "{name} twice in {}", head(tag));
        assert_clean(value);
        if ["x", "y", "width", "height", "cx", "cy", "r"].contains(&name) {
            assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{name}={value}");
        }
    }
}

fn unique_ids(svg: &str) {
    let mut seen = HashSet::new();
    for piece in svg.split(" id=\"").skip(1) {
        let id = piece.split('"').next().unwrap_or("");
        assert!(seen.insert(id), "id {id} twice");
    }
    for piece in svg.split("url(#").skip(1) {
        let id = piece.split(')').next().unwrap_or("");
        assert!(seen.contains(id), "url(#{id}) points nowhere");
    }
}

#[test]
fn the_checker_finds_what_is_broken() {
    well_formed("<svg><g a=\"1\"><title>x &amp; y</title></g><rect x=\"1\"/></svg>");
    let broken = [
        "<svg>",
        "<svg><g></svg>",
        "<svg>a & b</svg>",
        "<svg/><svg/>",
        "<svg><rect x=\"NaN\"/></svg>",
        "<svg><g id=\"a\"/><g id=\"a\"/></svg>",
        "<svg a=\"1\" a=\"2\"/>",
    ];
    for text in broken {
        assert!(std::panic::catch_unwind(|| well_formed(text)).is_err(), "{text}");
    }
}
