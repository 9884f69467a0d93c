//! Golden digests of every modelled machine's figures: whatever is renamed, reworded or moved, this test shows whether
//! a figure changed with it.
//!
//! The results of four commands on each machine (`runs`) are converted to lines of tokens: numbers and identifying
//! names only (`result`, `series`, `findings`, `waits`, `words`, `stream`). Each part's digest is compared with the one
//! in `figures.golden` (`golden`). Sentences and field names of the result file are not tokens: a redesign may have to
//! change how these files read the record, but never `figures.golden`.
//!
//! `OVERSLEEP_UPDATE_GOLDEN=1 cargo test -p oversleep-lab --test figures` writes the digests anew, if a figure was
//! meant to change.

mod findings;
mod golden;
mod result;
mod runs;
mod series;
mod stream;
mod waits;
mod words;

#[test]
fn no_figure_of_a_modelled_machine_has_changed() {
    let rows = runs::all();
    if std::env::var_os("OVERSLEEP_UPDATE_GOLDEN").is_some() {
        return golden::write(&rows);
    }
    let changed = golden::changed(&rows);
    assert!(changed.is_empty(), "{}", golden::message(&changed));
}
