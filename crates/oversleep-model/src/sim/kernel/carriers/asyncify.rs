//! Carriers for WebAssembly modules that Binaryen's `wasm-opt --asyncify` has rewritten: it makes every function on the
//! call stack return, and re-enters it later at the same place. The state of a suspended carrier is kept in separate
//! memory, together with its part of the stack that Rust keeps in linear memory.
//!
//! The rewriting replaces the imports of the module `asyncify`. Two functions here call them, so it leaves both as they
//! are: [`Carrier::resume`], where a carrier's part of the stack begins, and [`pass`], where it ends. Neither may be
//! inlined. The module needs two imports of its host, which get and set the global `__stack_pointer`: Rust can't name it.

use std::cell::Cell;
use std::io;
use std::ptr;

use super::{Job, Stop};
use crate::sim::kernel::state::Slot;

// SAFETY: binaryen's pass replaces these imports by functions of these types.
#[link(wasm_import_module = "asyncify")]
unsafe extern "C" {
    fn start_unwind(saved: *mut Saved);
    fn stop_unwind();
    fn start_rewind(saved: *mut Saved);
    fn stop_rewind();
}

// SAFETY: the page's engine.js gives them these types.
#[link(wasm_import_module = "stack")]
unsafe extern "C" {
    #[link_name = "get"]
    fn stack_pointer() -> usize;
    #[link_name = "set"]
    fn set_stack_pointer(to: usize);
}

/// Locals of the suspended functions: the observed maximum is 816 bytes.
const LOCALS_BYTES: usize = 32 << 10;
/// The stack of these functions in linear memory: the observed maximum is 3 kB.
const STACK_BYTES: usize = 128 << 10;
/// The alignment of a stack pointer in the C ABI of WebAssembly.
const ALIGNMENT: usize = 16;

/// The buffer for the locals of the rewritten functions: Binaryen's layout, then the memory itself.
#[repr(C)]
struct Saved {
    next: usize,
    end: usize,
}

/// The part of a carrier that is never moved.
struct Inside {
    saved: Saved,
    /// The job, until it begins.
    job: Option<Job>,
    /// Its slot at the latest resumption.
    me: Slot,
    /// The thread that gets the baton, if the job was suspended.
    passed: Option<Slot>,
    /// Whether it is being re-entered where it was suspended.
    is_rewinding: bool,
    /// The stack pointer where it was suspended.
    stopped_at: usize,
    /// Locals and stack.
    _memory: [Box<[u8]>; 2],
}

thread_local! {
    /// The carrier that runs.
    static RUNNING: Cell<*mut Inside> = const { Cell::new(ptr::null_mut()) };
}

/// Runs one job, which is suspended at each [`pass`].
pub(in crate::sim::kernel) struct Carrier {
    inside: *mut Inside,
    is_over: bool,
}

// SAFETY: WebAssembly without threads has one.
unsafe impl Send for Carrier {}

fn memory(bytes: usize) -> io::Result<Box<[u8]>> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(bytes).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    memory.resize(bytes, 0);
    Ok(memory.into_boxed_slice())
}

impl Carrier {
    /// A carrier whose job has not begun.
    ///
    /// # Errors
    /// There is no memory for another stack.
    pub(in crate::sim::kernel) fn new(job: Job) -> io::Result<Carrier> {
        let (locals, stack) = (memory(LOCALS_BYTES)?, memory(STACK_BYTES)?);
        let bounds = locals.as_ptr_range();
        let saved = Saved { next: bounds.start.addr(), end: bounds.end.addr() };
        let stopped_at = stack.as_ptr_range().end.addr() & !(ALIGNMENT - 1);
        let _memory = [locals, stack];
        let inside = Inside { saved, job: Some(job), me: 0, passed: None, is_rewinding: false, stopped_at, _memory };
        Ok(Carrier { inside: Box::into_raw(Box::new(inside)), is_over: false })
    }

    /// Runs the job until it is suspended or ends. A panic ends the module.
    #[inline(never)]
    pub(in crate::sim::kernel) fn resume(&mut self, me: Slot) -> Stop {
        assert!(!self.is_over, "its job is not over");
        let inside = self.inside;
        // The resumer may be a carrier itself.
        let outer = RUNNING.replace(inside);
        // SAFETY: nobody else touches it while its carrier does not run; while it does, only `run` and `pass` do, through
        // the same pointer.
        let (had_begun, from) = unsafe {
            (*inside).me = me;
            ((*inside).job.is_none(), (*inside).stopped_at)
        };
        // SAFETY: the stack pointer is put back below. In between, only `run` is called: for the first time on an empty
        // stack, later where it stopped, with the locals that were saved there.
        let (ended, passed) = unsafe {
            let here = stack_pointer();
            set_stack_pointer(from);
            if had_begun {
                (*inside).is_rewinding = true;
                start_rewind(&raw mut (*inside).saved);
            }
            let ended = run(inside);
            let passed = (*inside).passed.take();
            if passed.is_some() {
                stop_unwind();
                (*inside).stopped_at = stack_pointer();
            }
            set_stack_pointer(here);
            (ended, passed)
        };
        RUNNING.set(outer);
        match passed {
            Some(next) => Stop::Passed(next),
            None => {
                self.is_over = true;
                Stop::Ended(ended)
            }
        }
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and its carrier does not run.
        let has_begun = unsafe { (*self.inside).job.is_none() };
        // A suspended carrier keeps its data, like a thread that is never woken again, because unwinding would run its code.
        if self.is_over || !has_begun {
            // SAFETY: it came from a box, and nothing refers to it any more.
            drop(unsafe { Box::from_raw(self.inside) });
        }
    }
}

/// The bottom of a carrier's stack, where rewinding begins.
#[inline(never)]
fn run(inside: *mut Inside) -> Slot {
    // SAFETY: `resume` keeps it there; rewinding enters the job again without taking it.
    let (job, me) = unsafe { ((*inside).job.take().expect("it has not begun"), (*inside).me) };
    job(me)
}

/// Suspends the calling carrier, which hands the baton on, and returns its slot when it gets the baton again.
#[inline(never)]
pub(in crate::sim::kernel) fn pass(next: Slot) -> Slot {
    let inside = RUNNING.get();
    assert!(!inside.is_null(), "only a carrier can be left");
    // SAFETY: `resume` set it and is on the stack beneath. Called to rewind, this goes on; otherwise it stops here and is
    // called once more when it has been rewound.
    unsafe {
        if (*inside).is_rewinding {
            (*inside).is_rewinding = false;
            stop_rewind();
            return (*inside).me;
        }
        (*inside).passed = Some(next);
        start_unwind(&raw mut (*inside).saved);
    }
    0
}

conformance!();
