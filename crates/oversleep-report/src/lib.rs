//! Results, comparisons and answers for people: terminal text, a self-contained HTML page, SVG pictures.
//!
//! Everything here starts from plain data: a result file, a comparison, an answer, and leaves as a `document`. `view` turns
//! it into rows and figures, `terminal` and `html` lay them out, `picture` draws plain numbers, `listing` holds texts that
//! are not reports. Nothing here touches the machine it runs on, so it compiles for wasm32 too.
#![forbid(unsafe_code)]

pub mod ask;
pub mod document;
pub mod html;
pub mod listing;
mod picture;
pub mod terminal;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod view;
pub mod words;
