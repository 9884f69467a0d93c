//! The keys of a table on a terminal.

use std::io::{self, IsTerminal};

use oversleep_native::keys;

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// To end as by Ctrl-C.
    Quit,
    /// To draw nothing until it is pressed again.
    Pause,
}

impl Key {
    fn of(letter: u8) -> Option<Key> {
        match letter.to_ascii_lowercase() {
            b'q' => Some(Key::Quit),
            b'p' => Some(Key::Pause),
            _ => None,
        }
    }
}

/// The keys, where this process has the terminal for itself: what stands behind a pipe, such as `less`, has its own.
pub struct Keys(Option<keys::Keys>);

impl Keys {
    /// Those of a table that is drawn.
    pub fn of(is_drawn: bool) -> Keys {
        Keys((is_drawn && io::stdout().is_terminal()).then(keys::Keys::open).flatten())
    }

    /// The next one that was pressed.
    pub fn pressed(&self) -> Option<Key> {
        let keys = self.0.as_ref()?;
        std::iter::from_fn(|| keys.pressed()).find_map(Key::of)
    }

    /// Whether this process was stopped since the last time.
    pub fn came_back(&self) -> bool {
        self.0.as_ref().is_some_and(keys::Keys::came_back)
    }

    /// The line about them below a table, if there are any.
    pub fn line(&self, is_paused: bool) -> &'static str {
        match (&self.0, is_paused) {
            (None, _) => "",
            (Some(_), false) => "p pauses the table · q quits\n",
            (Some(_), true) => "paused, while sampling goes on · p resumes the table · q quits\n",
        }
    }
}
