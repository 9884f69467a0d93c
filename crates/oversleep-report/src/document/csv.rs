//! CSV (RFC 4180): the subject's table for spreadsheets and other programs.

use std::io::{self, Write};

use super::Entry;

/// CSV.
pub const CSV: Entry = Entry {
    name: "csv",
    extension: "csv",
    media_type: "text/csv",
    option: Some("Print only the figures, as CSV, a line for each series or entry, or write it to FILE"),
    is_for_pipes: true,
    write: |subject, _, out| {
        let sheet = subject.sheet();
        line(out, sheet.heads.iter().map(AsRef::as_ref))?;
        for row in sheet.rows {
            line(out, row.iter().map(String::as_str))?;
        }
        Ok(())
    },
};

fn line<'a>(out: &mut dyn Write, fields: impl Iterator<Item = &'a str>) -> io::Result<()> {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(quoted(field).as_bytes())?;
    }
    out.write_all(b"\r\n")
}

/// Quotes a field if necessary. A field that a spreadsheet would take for a formula gets an apostrophe in front.
pub(super) fn quoted(field: &str) -> String {
    let is_formula =
        field.starts_with(['=', '+', '@', '\t', '\r']) || (field.starts_with('-') && field.parse::<f64>().is_err());
    let field: String = field.chars().map(|letter| if is_harmless(letter) { letter } else { '\u{fffd}' }).collect();
    let field = if is_formula { format!("'{field}") } else { field };
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

/// Whether a terminal shows it instead of obeying it.
fn is_harmless(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r') || !crate::terminal::is_obeyed(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_neither_fields_nor_formulas() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
        assert_eq!(quoted("-5"), "-5");
        assert_eq!(quoted("-cmd"), "'-cmd");
        assert_eq!(quoted("\u{1b}[2J\u{202e}x\n"), "\"\u{fffd}[2J\u{fffd}x\n\"");
    }
}
