//! The clocks that a program reads. They are functions in the injected code (`code/clocks.s`), to which the symbols of its
//! vDSO lead (`vdso`). `table` has what these functions read: the steps, rewritten when the resolution changes; `placed`
//! owns which process has which. A program in a time namespace of its own gets its ends on its own clocks (`time_spaces`).

pub mod apart;
pub mod placed;
mod table;
pub mod time_spaces;
mod vdso;
