//! The width of text on this terminal, and how much of it can be seen at once.

/// Longer lines are hard to read, however wide the terminal is.
const WIDTH_MAX: usize = 120;
const WIDTH_MIN: usize = 40;
const WIDTH_WITHOUT_TERMINAL: usize = 100;

/// Characters per line.
pub fn width() -> usize {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    stated.or_else(seen).unwrap_or(WIDTH_WITHOUT_TERMINAL).clamp(WIDTH_MIN, WIDTH_MAX)
}

/// Lines that fit the screen; 24 where nothing says.
pub fn height() -> usize {
    terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0))
}

/// Words in lines of that many columns.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
