//! Text that fits: made safe, measured in columns, wrapped.

use crate::words::{BOUND, units_bound};

/// The text without anything that a terminal would obey: control characters (including escape sequences) and direction
/// marks become `�`; tabs and line ends become spaces.
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '\n' | '\r' | '\t' => ' ',
            letter if is_obeyed(letter) => '\u{fffd}',
            letter => letter,
        })
        .collect()
}

/// Whether a terminal would obey the letter instead of showing it.
pub fn is_obeyed(letter: char) -> bool {
    letter.is_control() || turns_direction(letter)
}

fn turns_direction(letter: char) -> bool {
    let is_mark = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    is_mark || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

/// A text of ours without its ANSI styles.
pub fn without_styles(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut in_style = false;
    for letter in text.chars() {
        match letter {
            '\u{1b}' => in_style = true,
            'm' if in_style => in_style = false,
            _ if in_style => {}
            letter => plain.push(letter),
        }
    }
    plain
}

/// The number of columns of a character: two for East Asian wide ones and pictographs, else one. Combining marks count
/// as one, which can only make a line too short.
pub fn columns_of(letter: char) -> usize {
    match letter as u32 {
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f000..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Columns a text takes.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The text in lines of at most that many columns, broken between words, never between a figure and its unit; a longer
/// word has a line of its own.
pub fn broken(text: &str, width: usize) -> Vec<String> {
    let text = units_bound(text);
    let mut lines: Vec<String> = Vec::new();
    let mut length = 0;
    let words = text.split(|letter: char| letter.is_whitespace() && letter != BOUND).filter(|word| !word.is_empty());
    // A call that is wider than the page breaks before its arguments.
    let pieces = words.flat_map(|word| match word.find('(').filter(|_| columns(word) > width) {
        Some(at) => [&word[..=at], &word[at + 1..]],
        None => [word, ""],
    });
    for word in pieces.filter(|piece| !piece.is_empty()) {
        let room = columns(word);
        match lines.last_mut() {
            Some(line) if length + 1 + room <= width => {
                line.push(' ');
                line.push_str(word);
                length += 1 + room;
            }
            _ => {
                lines.push(word.to_owned());
                length = room;
            }
        }
    }
    lines.iter().map(|line| line.replace(BOUND, " ")).collect()
}

/// Marks after which a long name breaks.
const BREAKS: [char; 7] = ['/', '-', '=', ',', '.', '_', ':'];

/// Where a piece of a longer name ends, in bytes: behind the last mark that leaves it half as long or longer, or else before
/// the last word that begins with a capital: `Scheduled|Executor`.
fn end_of_piece(piece: &str) -> usize {
    let capital = piece.char_indices().zip(piece.chars().skip(1)).filter_map(|((at, letter), next)| {
        (letter.is_lowercase() && next.is_uppercase()).then_some(at + letter.len_utf8())
    });
    let ends = [piece.rfind(BREAKS).map(|at| at + 1), capital.last()];
    ends.into_iter().flatten().find(|end| 2 * end >= piece.len()).unwrap_or(piece.len())
}

/// The columns of the longest part of a text that stays in one piece.
pub fn longest_piece(text: &str) -> usize {
    let text = units_bound(text);
    let pieces =
        text.split(' ').flat_map(|word| word.split_inclusive(|letter| letter == '(' || BREAKS.contains(&letter)));
    pieces.map(columns).max().unwrap_or(0)
}

/// The columns of the longest word; a figure and its unit are one.
pub fn longest_word(text: &str) -> usize {
    units_bound(text).split(' ').map(columns).max().unwrap_or(0)
}

/// The same, with longer words in pieces.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut lines = Vec::new();
    for line in broken(text, width) {
        let (mut piece, mut taken) = (String::new(), 0);
        for letter in line.chars() {
            if taken + columns_of(letter) > width {
                let rest = piece.split_off(end_of_piece(&piece));
                lines.push(std::mem::replace(&mut piece, rest));
                taken = columns(&piece);
            }
            piece.push(letter);
            taken += columns_of(letter);
        }
        lines.push(piece);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_speaks_to_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\u{7}\nc\u{202e}d\u{9b}2J"), "a\u{fffd}[31mb\u{fffd} c\u{fffd}d\u{fffd}2J");
    }

    #[test]
    fn lines_never_exceed_the_width() {
        for width in 2..30 {
            for line in wrapped("how late waits end 日本語の長い名前 and averyveryverylongwordwithoutabreak", width)
            {
                assert!(columns(&line) <= width, "{line}");
            }
        }
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("it took 66.1 µs or 5 minutes", 12), ["it took", "66.1 µs or 5", "minutes"]);
        assert_eq!(wrapped("", 7), [] as [&str; 0]);
        assert_eq!(wrapped("B8/sleep/1ms/policy=idle", 14), ["B8/sleep/1ms/", "policy=idle"]);
        assert_eq!(wrapped("ScheduledExecutorService.x", 16), ["Scheduled", "ExecutorService.", "x"]);
        assert_eq!(wrapped("a/averyverylongname", 10), ["a/averyver", "ylongname"], "a piece isn't tiny");
        assert_eq!((longest_word("in nanosleep(1 ms) here"), longest_piece("nanosleep(100 ms)")), (15, 10));
    }
}
