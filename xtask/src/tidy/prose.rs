//! The prose of a file: comments, string literals, Markdown. Adjacent lines are joined, so that a phrase is found
//! across a line break; code in backquotes is left out.

use super::test_code::TestLines;
use crate::tree::File;

/// No phrase extends across it.
const BOUNDARY: char = '\u{1}';

/// A text in which white space is one space, a number `#` and a placeholder `{}`, with the lines it came from.
#[derive(Default)]
pub struct Prose {
    pub text: String,
    /// The start of each line in `text`, with its number, in order.
    lines: Vec<(usize, usize)>,
}

impl Prose {
    /// The line of the byte at `at`, counted from 1.
    pub fn line(&self, at: usize) -> usize {
        let after = self.lines.partition_point(|(begin, _)| *begin <= at);
        after.checked_sub(1).map_or(1, |i| self.lines[i].1)
    }

    /// The prose of the file. Literals of tests repeat other code, so they are left out.
    pub fn of(file: &File, tests: &TestLines) -> Prose {
        let mut prose = Prose::default();
        match &file.rust {
            Some(source) => {
                for (i, line) in source.comments.lines().enumerate() {
                    prose.comment(line, i + 1);
                }
                prose.end();
                for (i, line) in source.literals.lines().enumerate() {
                    if tests.contain(i + 1) {
                        prose.end();
                    } else {
                        prose.begin_line(i + 1);
                        prose.literal(line);
                    }
                }
            }
            None if file.path.ends_with(".md") => {
                for (i, line) in file.text.lines().enumerate() {
                    prose.markdown(line, i + 1);
                }
            }
            None => {
                for (i, line) in file.text.lines().enumerate() {
                    let is_comment = line.trim_start().starts_with('#');
                    prose.begin_line(i + 1);
                    prose.push(line.trim_start().trim_start_matches('#'));
                    if !is_comment {
                        prose.end();
                    }
                }
            }
        }
        prose
    }

    fn begin_line(&mut self, number: usize) {
        self.push(" ");
        self.lines.push((self.text.len(), number));
    }

    fn end(&mut self) {
        if !self.text.ends_with(BOUNDARY) {
            self.text.push(BOUNDARY);
        }
    }

    fn comment(&mut self, line: &str, number: usize) {
        let text = line.trim().trim_start_matches(['/', '!', '*']).trim_end_matches("*/");
        if text.trim().is_empty() {
            return self.end();
        }
        self.begin_line(number);
        self.push(text);
    }

    fn markdown(&mut self, line: &str, number: usize) {
        let text = line.trim();
        if text.is_empty() || text.starts_with(['|', '#', '-', '`']) {
            self.end();
        }
        self.begin_line(number);
        for (i, cell) in text.split('|').enumerate() {
            if i > 0 {
                self.end();
            }
            self.push(cell);
        }
        if text.starts_with('#') {
            self.end();
        }
    }

    /// A line of literals, everything else being `\0`. A literal without a space is a name.
    fn literal(&mut self, line: &str) {
        for (i, part) in line.split('\0').enumerate() {
            if i > 0 {
                self.end();
            }
            if !part.contains(' ') {
                continue;
            }
            let mut pieces = part.trim_end_matches('\\').split("\\n");
            self.push(pieces.next().unwrap_or_default());
            for piece in pieces {
                self.end();
                self.push(piece);
            }
        }
    }

    /// Adds text in the form for matching.
    fn push(&mut self, text: &str) {
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter.is_whitespace() || letter == '\u{a0}' {
                if !self.text.ends_with([' ', BOUNDARY]) {
                    self.text.push(' ');
                }
            } else if letter.is_ascii_digit() {
                while letters.next_if(|next| next.is_ascii_digit() || *next == '.' || *next == ',').is_some() {}
                self.text.push('#');
            } else if letter == '`' && letters.clone().any(|next| next == '`') {
                while letters.next_if(|next| *next != '`').is_some() {}
                letters.next();
                self.text.push('`');
            } else if letter == '{' && letters.clone().any(|next| next == '}') {
                while letters.next_if(|next| *next != '}').is_some() {}
                letters.next();
                self.text.push_str("{}");
            } else {
                self.text.push(letter);
            }
        }
    }
}

/// A separate text: a whole literal, or a cell of a Markdown table.
pub struct Cell<'a> {
    pub line: usize,
    pub text: &'a str,
    pub kind: CellKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Head,
    HeadOfFigures,
    Other,
}

pub fn cells<'a>(file: &'a File, tests: &TestLines) -> Vec<Cell<'a>> {
    let mut found = Vec::new();
    if let Some(source) = &file.rust {
        for (i, (line, code)) in source.literals.lines().zip(source.code.lines()).enumerate() {
            if tests.contain(i + 1) {
                continue;
            }
            let mut chars = 0;
            for text in line.split('\0') {
                if !text.is_empty() {
                    found.push(Cell { line: i + 1, text, kind: kind_after(code, chars) });
                }
                chars += text.chars().count() + 1;
            }
        }
    } else if file.path.ends_with(".md") {
        let lines: Vec<&str> = file.text.lines().collect();
        for (i, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with('|')) {
            let is_head = lines.get(i + 1).is_some_and(|next| next.starts_with("|---") || next.starts_with("|:--"));
            let kind = if is_head { CellKind::Head } else { CellKind::Other };
            let cells = line.split('|').map(str::trim).filter(|cell| !cell.is_empty());
            found.extend(cells.map(|text| Cell { line: i + 1, text, kind }));
        }
    }
    found
}

/// The code before a literal that is a column's head, by the kind of its cells.
const BEFORE_HEADS: &[(&str, CellKind)] = &[
    ("figures(\"", CellKind::HeadOfFigures),
    ("figure(\"", CellKind::HeadOfFigures),
    ("words(\"", CellKind::Head),
    ("head: \"", CellKind::Head),
];

/// The kind of a literal that begins after this many characters of a line.
fn kind_after(code: &str, chars: usize) -> CellKind {
    let before: String = code.chars().take(chars).collect();
    let head = BEFORE_HEADS.iter().find(|(begin, _)| before.ends_with(begin));
    head.map_or(CellKind::Other, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::test_code::TestCode;
    use crate::tree::Tree;

    fn prose(path: &str, text: &str) -> Prose {
        let tree = Tree::of(&[(path, text)]);
        let file = tree.get(path).unwrap();
        Prose::of(file, &TestCode::of(&tree).lines(file))
    }

    fn line_of(path: &str, text: &str, phrase: &str) -> Option<usize> {
        let prose = prose(path, text);
        prose.text.find(phrase).map(|at| prose.line(at))
    }

    #[test]
    fn sentences_are_joined_across_lines() {
        let text = "//! One\n//! sentence here.\nfn f() { g(\"of two \\\n        lines\", \"two\", \"literals\") }\n";
        assert_eq!(line_of("a.rs", text, "One sentence here"), Some(1));
        assert_eq!(line_of("a.rs", text, "sentence here"), Some(2));
        assert_eq!(line_of("a.rs", text, "of two lines"), Some(3));
        assert_eq!(line_of("a.rs", text, "two literals"), None);
        assert_eq!(line_of("a.md", "A\nsentence.\n\nOther", "A sentence"), Some(1));
        assert_eq!(line_of("a.md", "A\nsentence.\n\nOther", "sentence. Other"), None);
        assert_eq!(line_of("a.toml", "a = 1\n# one\n# thing\n", "one thing"), Some(2));
    }

    #[test]
    fn code_numbers_and_placeholders_are_not_words() {
        assert_eq!(prose("a.md", "ask for `x y` 1.5 ms or 300us").text.trim(), "ask for ` # ms or #us");
        assert_eq!(prose("a.rs", "fn f() { g(\"for {a:?} us\") }").text.trim_matches([BOUNDARY, ' ']), "for {} us");
    }

    #[test]
    fn literals_of_tests_are_left_out_and_their_comments_are_not() {
        let text = "#[cfg(test)]\nmod tests {\n    // why\n    fn f() { g(\"what\") }\n}\n";
        assert_eq!(line_of("a.rs", text, "why"), Some(3));
        assert_eq!(line_of("a.rs", text, "what"), None);
    }

    #[test]
    fn heads_are_known_by_their_place() {
        let tree = Tree::of(&[
            ("a.rs", "fn f() { figures(\"late\", 1); g(\"late\") }\n"),
            ("a.md", "| late | a |\n|---|---|\n| most | b |\n"),
        ]);
        let of = |path: &str| {
            let file = tree.get(path).unwrap();
            cells(file, &TestCode::of(&tree).lines(file))
                .into_iter()
                .map(|c| (c.line, c.text, c.kind))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("a.rs"), [(1, "late", CellKind::HeadOfFigures), (1, "late", CellKind::Other)]);
        assert_eq!(of("a.md")[0], (1, "late", CellKind::Head));
        assert!(of("a.md").contains(&(3, "most", CellKind::Other)));
    }
}
