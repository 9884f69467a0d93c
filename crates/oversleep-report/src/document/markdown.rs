//! Markdown, as GitHub and GitLab show it: a summary for an issue, a pull request or a page of notes.

use std::io::{self, Write};

use super::Entry;
use crate::view::comparison::{Found, View};
use crate::view::table::{Kind, Table};

/// Markdown.
pub const MARKDOWN: Entry = Entry {
    name: "md",
    extension: "md",
    media_type: "text/markdown",
    option: Some("Print only a summary with its tables, as Markdown, or write it to FILE"),
    is_for_pipes: true,
    write: |subject, layout, out| view(&subject.view(layout.detail), out),
};

/// Around text that is laid out already.
const FENCE: &str = "~~~~";

fn view(view: &View, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {}{}", escaped(&view.title), escaped(&view.marks))?;
    for (name, machine) in &view.results {
        match name.is_empty() {
            true => writeln!(out, "\n{}", escaped(machine))?,
            false => writeln!(out, "\n**{}** · {}", escaped(name), escaped(machine))?,
        }
    }
    for warning in &view.warnings {
        writeln!(out, "\n> **Note:** {}", escaped(warning))?;
    }
    if view.has_conclusion() {
        writeln!(out)?;
    }
    for Found { id, name, sentence, next_step } in &view.found {
        writeln!(out, "- **{id} {}**: {} {}", escaped(name), escaped(sentence), escaped(next_step))?;
    }
    for sentence in view.sentences() {
        writeln!(out, "- {}", escaped(sentence))?;
    }
    if !view.text.is_empty() {
        writeln!(out, "\n{FENCE}text\n{}\n{FENCE}", view.text.trim_end().replace(FENCE, "~~~"))?;
    }
    for section in &view.sections {
        writeln!(out, "\n## {}", escaped(&section.title))?;
        for table in &section.tables {
            if section.tables.len() > 1 && table.caption != section.title {
                writeln!(out, "\n{}:", escaped(table.caption.trim_end_matches(['.', ':'])))?;
            }
            writeln!(out)?;
            rows(table, out)?;
        }
        for note in &section.notes {
            writeln!(out, "\n{}", escaped(note))?;
        }
    }
    Ok(())
}

/// A table. Bars are left out: they are pictures of figures that stand beside them.
fn rows(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let shown = |index: &usize| !matches!(table.columns[*index].kind, Kind::Bar | Kind::Split);
    let shown: Vec<usize> = (0..table.columns.len()).filter(shown).collect();
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        writeln!(out, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
    };
    line(&mut shown.iter().map(|&index| escaped(&table.columns[index].head)))?;
    line(&mut shown.iter().map(|&index| match table.columns[index].kind {
        Kind::Figure => "---:".to_owned(),
        _ => "---".to_owned(),
    }))?;
    table.rows.iter().try_for_each(|row| line(&mut shown.iter().map(|&index| escaped(&row[index].text))))
}

/// Text that stays text: no character begins markup, a link, a mention or HTML, or speaks to a terminal.
fn escaped(text: &str) -> String {
    let text = text.trim_start();
    let mut safe = String::with_capacity(text.len());
    if begins_a_block(text) {
        safe.push('\\');
    }
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        match letter {
            // Within a word it is a letter like others.
            '_' if safe.ends_with(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric) => safe.push('_'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '$' => safe.extend(['\\', letter]),
            '@' => safe.push_str("@<!-- -->"),
            ':' if next == Some('/') => safe.push_str(":<!-- -->"),
            '.' if safe.ends_with("www") => safe.push_str("<!-- -->."),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\n' => safe.push_str("<br>"),
            letter if letter.is_whitespace() && letter != '\u{a0}' => safe.push(' '),
            letter if crate::terminal::is_obeyed(letter) => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

/// Whether a line that begins so would be a list, a heading or a rule.
fn begins_a_block(text: &str) -> bool {
    text.starts_with(['-', '+', '='])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("- x"), "\\- x");
        assert_eq!(escaped("clock_nanosleep _x_"), "clock_nanosleep \\_x\\_");
        assert_eq!(
            escaped("@me see https://a.example www.b"),
            "@<!-- -->me see https:<!-- -->//a.example www<!-- -->.b"
        );
        assert_eq!(escaped("a\tb\nc\u{1b}[2J"), "a b<br>c\u{fffd}\\[2J");
        assert_eq!(escaped("<b>$x$ & y"), "&lt;b&gt;\\$x\\$ &amp; y");
    }
}
