//! The figures of every modelled machine, held by digests: whatever is renamed, reworded or moved, this test says
//! whether a figure changed with it.
//!
//! What four commands work out on each machine (`runs`) is told as lines of tokens, numbers and names of identity only
//! (`result`, `series`, `findings`, `waits`, `words`, `stream`), and each part's digest is compared with the one in
//! `figures.golden` (`golden`). No sentence is a token, nor is what the result file calls a field: a redesign may have
//! to change how these files read the record, but never `figures.golden`.
//!
//! `OVERSLEEP_UPDATE_GOLDEN=1 cargo test -p oversleep-lab --test figures` writes the digests anew, where a figure was
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
