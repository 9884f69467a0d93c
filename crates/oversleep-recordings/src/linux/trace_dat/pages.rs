//! The pages of a CPU, one after the other, also in compressed chunks.

use super::Cpu;
use super::section::chunk;
use crate::Fault;

impl Cpu<'_> {
    /// Goes to the next page; whether there is one.
    pub(super) fn load(&mut self, page_size: usize, long_size: usize) -> Result<bool, Fault> {
        if self.is_broken {
            return Ok(false);
        }
        let is_loaded = match self.chunks {
            None => {
                if self.cursor.at() >= self.end {
                    return Ok(false);
                }
                let page = self.cursor.peek(page_size)?;
                let is_loaded = page.is_some_and(|page| self.page.load(page, long_size));
                self.cursor.pass(page_size);
                is_loaded
            }
            Some(left) => {
                if self.chunk_at >= self.chunk.len() {
                    if left == 0 {
                        return Ok(false);
                    }
                    self.chunks = Some(left - 1);
                    self.chunk = chunk(&mut self.cursor)?.unwrap_or_default();
                    self.chunk_at = 0;
                }
                let page = self.chunk.get(self.chunk_at..self.chunk_at + page_size);
                self.chunk_at += page_size;
                page.is_some_and(|page| self.page.load(page, long_size))
            }
        };
        self.is_broken = !is_loaded;
        Ok(is_loaded)
    }
}
