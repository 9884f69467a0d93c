//! Keys as they are typed, on systems whose terminals nothing here knows.

/// No keys.
pub struct Keys(());

impl Keys {
    /// There are none.
    pub fn open() -> Option<Keys> {
        None
    }

    /// None was.
    pub fn pressed(&self) -> Option<u8> {
        None
    }

    /// No process is stopped here.
    pub fn came_back(&self) -> bool {
        false
    }
}
