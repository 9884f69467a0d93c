//! Grand Central Dispatch: the semaphore and the timers that waits and hand-offs use.

use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

use oversleep_record::{Nanos, Unavailable};

type Object = *mut c_void;
type Function = extern "C" fn(*mut c_void);

/// `DISPATCH_TIME_NOW` and `DISPATCH_TIME_FOREVER`.
const NOW: u64 = 0;
const FOR_EVER: u64 = u64::MAX;
/// `DISPATCH_TIMER_STRICT`.
const STRICT: usize = 1;

/// Only its address matters.
#[repr(C)]
struct SourceType([u8; 0]);

// SAFETY: as <dispatch/dispatch.h> declares them, in libSystem.
// https://developer.apple.com/documentation/dispatch
unsafe extern "C" {
    static _dispatch_source_type_timer: SourceType;
    fn dispatch_semaphore_create(value: isize) -> Object;
    fn dispatch_semaphore_wait(semaphore: Object, timeout: u64) -> isize;
    fn dispatch_semaphore_signal(semaphore: Object) -> isize;
    fn dispatch_time(from: u64, delta_ns: i64) -> u64;
    fn dispatch_queue_create(label: *const c_char, attributes: Object) -> Object;
    fn dispatch_source_create(kind: *const SourceType, handle: usize, mask: usize, queue: Object) -> Object;
    fn dispatch_source_set_timer(source: Object, start: u64, interval_ns: u64, leeway_ns: u64);
    fn dispatch_source_set_event_handler_f(source: Object, handler: Function);
    fn dispatch_source_cancel(source: Object);
    fn dispatch_set_context(object: Object, context: *mut c_void);
    fn dispatch_set_finalizer_f(object: Object, finalizer: Function);
    fn dispatch_resume(object: Object);
    fn dispatch_retain(object: Object);
    fn dispatch_release(object: Object);
}

/// A reference to an object, released on drop.
struct Reference(NonNull<c_void>);

// SAFETY: dispatch objects may be used by several threads, and their references are counted atomically.
unsafe impl Send for Reference {}
// SAFETY: as above.
unsafe impl Sync for Reference {}

impl Reference {
    fn new(object: Object, call: &str) -> Result<Reference, Unavailable> {
        NonNull::new(object).map(Reference).ok_or_else(|| Unavailable::failed(call, "it created no object"))
    }

    fn get(&self) -> Object {
        self.0.as_ptr()
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: this is a reference of its own, released once.
        unsafe { dispatch_release(self.get()) };
    }
}

/// A counting semaphore that starts at zero.
pub(super) struct Semaphore(Reference);

impl Semaphore {
    /// A new one.
    pub(super) fn new() -> Result<Semaphore, Unavailable> {
        // SAFETY: zero is a valid count.
        let object = unsafe { dispatch_semaphore_create(0) };
        Reference::new(object, "dispatch_semaphore_create").map(Semaphore)
    }

    /// Raises it, and wakes one waiter.
    pub(super) fn signal(&self) {
        // SAFETY: the object lives as long as this reference.
        unsafe { dispatch_semaphore_signal(self.0.get()) };
    }

    /// Waits for a signal. POSIX signals don't end it.
    pub(super) fn wait(&self) {
        // SAFETY: as above.
        unsafe { dispatch_semaphore_wait(self.0.get(), FOR_EVER) };
    }

    /// Waits for a signal, at most for this span, which is above zero. Returns whether one came.
    pub(super) fn wait_for(&self, span: Nanos) -> bool {
        // SAFETY: as above; the time is on mach_absolute_time.
        unsafe { dispatch_semaphore_wait(self.0.get(), dispatch_time(NOW, span.0)) == 0 }
    }
}

/// A one-shot timer on its own serial queue. Its handler signals a semaphore.
pub(super) struct TimerSource {
    source: Reference,
    fired: Semaphore,
    _queue: Reference,
}

extern "C" fn signal_context(semaphore: *mut c_void) {
    // SAFETY: the context is the semaphore, of which the source holds a reference until its finalizer.
    unsafe { dispatch_semaphore_signal(semaphore) };
}

extern "C" fn release_context(semaphore: *mut c_void) {
    // SAFETY: the reference that the source held, after its last handler.
    unsafe { dispatch_release(semaphore) };
}

impl TimerSource {
    /// A disarmed timer. A strict one isn't coalesced.
    pub(super) fn new(strict: bool) -> Result<TimerSource, Unavailable> {
        let fired = Semaphore::new()?;
        // SAFETY: the label is terminated and copied; no attributes make a serial queue.
        let queue = unsafe { dispatch_queue_create(c"oversleep.timer".as_ptr(), std::ptr::null_mut()) };
        let queue = Reference::new(queue, "dispatch_queue_create")?;
        let mask = if strict { STRICT } else { 0 };
        // SAFETY: the type is the library's own, a timer takes no handle, and the queue is retained by the source.
        let source = unsafe { dispatch_source_create(&raw const _dispatch_source_type_timer, 0, mask, queue.get()) };
        let source = Reference::new(source, "dispatch_source_create")?;
        // SAFETY: the source is new and suspended. Its context is a reference to the semaphore, released by the
        // finalizer when the source is gone and no handler can run. It is resumed once, before it can be released.
        unsafe {
            dispatch_retain(fired.0.get());
            dispatch_set_context(source.get(), fired.0.get());
            dispatch_set_finalizer_f(source.get(), release_context);
            dispatch_source_set_event_handler_f(source.get(), signal_context);
            dispatch_source_set_timer(source.get(), FOR_EVER, FOR_EVER, 0);
            dispatch_resume(source.get());
        }
        Ok(TimerSource { source, fired, _queue: queue })
    }

    /// Arms the timer for this span, which is above zero, without leeway, and waits until its handler has run.
    pub(super) fn wait_for(&self, span: Nanos) {
        // SAFETY: the source is alive; an infinite interval makes it fire once.
        unsafe { dispatch_source_set_timer(self.source.get(), dispatch_time(NOW, span.0), FOR_EVER, 0) };
        self.fired.wait();
    }
}

impl Drop for TimerSource {
    fn drop(&mut self) {
        // SAFETY: a cancelled timer doesn't fire; the fields release the references.
        unsafe { dispatch_source_cancel(self.source.get()) };
    }
}
