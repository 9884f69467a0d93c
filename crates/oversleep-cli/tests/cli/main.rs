//! The command as people run it, on any system. Tests of what only some systems have are in `platform/`.

mod archive;
mod assert;
mod calls;
mod cases;
mod compare;
mod exchange;
mod gates;
mod generated;
mod help;
mod html_in_browser;
mod investigations;
mod live;
mod modelled;
mod outputs;
mod questions;
mod real_time;
mod resolution;
mod serve;
#[path = "../support/mod.rs"]
mod support;
mod usage;
mod why;
mod widths;
