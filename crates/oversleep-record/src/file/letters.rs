//! Checks that text which arrives in blocks is UTF-8. The parser checks only the texts that it keeps.

/// The first bytes of a character whose other bytes are in the next block.
#[derive(Debug, Default)]
pub(super) struct Letters {
    begun: Vec<u8>,
}

impl Letters {
    /// The position in this block of the first bytes that are not UTF-8.
    pub fn invalid_at(&mut self, block: &[u8]) -> Option<usize> {
        let mut at = 0;
        while !self.begun.is_empty() && at < block.len() {
            self.begun.push(block[at]);
            match str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) if error.error_len().is_some() => return Some(at),
                Err(_) => {}
            }
            at += 1;
        }
        let error = str::from_utf8(&block[at..]).err()?;
        let end = at + error.valid_up_to();
        if error.error_len().is_some() {
            return Some(end);
        }
        self.begun.extend(&block[end..]);
        None
    }
}
