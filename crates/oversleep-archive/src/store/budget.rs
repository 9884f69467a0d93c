//! What reading rows may take: pages, dictionaries, values and copies of texts are counted before there are more of them.
//! The rows of an archive take a few MB, those of the widest histograms 60.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::column::page::{Page, PageMetadata, PageReader};

use super::schema::{Parquet, general};

/// The most that a file's rows may take while they are read.
const READ_MAX: u64 = 80 << 20;

/// What is taken, by all columns of a row group together.
#[derive(Clone, Default)]
pub struct Budget(Arc<AtomicU64>);

impl Budget {
    /// Takes more.
    ///
    /// # Errors
    /// It would be too much.
    pub fn take(&self, bytes: u64) -> Parquet<()> {
        let before = self.0.fetch_add(bytes, Ordering::Relaxed);
        match before.saturating_add(bytes) > READ_MAX {
            true => Err(general(&"its rows would take more memory than those of an archive")),
            false => Ok(()),
        }
    }

    /// Gives back what was taken.
    pub fn give_back(&self, bytes: u64) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The pages of a column. Each is counted as it is unpacked, with its values.
pub struct Pages {
    inner: Box<dyn PageReader>,
    budget: Budget,
    /// What a value takes beside its page.
    value_bytes: u64,
    /// What the page takes whose values are read now.
    current: u64,
    /// What the pages before it took, since rows were read last.
    passed: Arc<AtomicU64>,
}

impl Pages {
    /// The pages, and what has passed of them.
    pub fn new(inner: Box<dyn PageReader>, budget: &Budget, value_bytes: u64) -> (Pages, Arc<AtomicU64>) {
        let passed = Arc::new(AtomicU64::new(0));
        let pages = Pages { inner, budget: budget.clone(), value_bytes, current: 0, passed: Arc::clone(&passed) };
        (pages, passed)
    }
}

impl Iterator for Pages {
    type Item = Parquet<Page>;

    fn next(&mut self) -> Option<Parquet<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Parquet<Option<Page>> {
        let Some(page) = self.inner.get_next_page()? else { return Ok(None) };
        let bytes = page.buffer().len() as u64 + u64::from(page.num_values()).saturating_mul(self.value_bytes);
        self.budget.take(bytes)?;
        // A dictionary stays as long as its column.
        if !matches!(page, Page::DictionaryPage { .. }) {
            self.passed.fetch_add(self.current, Ordering::Relaxed);
            self.current = bytes;
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Parquet<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Parquet<()> {
        self.inner.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Parquet<bool> {
        self.inner.at_record_boundary()
    }
}
