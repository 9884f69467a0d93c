//! Several supervisor threads divide the program's threads among themselves.
//!
//! To find the thread that stopped, the kernel walks all threads that the tracer traces. With some hundreds of them, that
//! takes longer than redirecting a wait. So a tracer with enough threads hands each new one to another tracer. Only its
//! current tracer can detach a thread and only the next one can attach to it, so in between the thread waits in
//! [`Entry::Park`]. Threads of programs without that code, or whose own filter may forbid its call, stay with their tracer:
//! their waits don't stop, or only to be named.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::linux::code::trampoline::Entry;
use crate::linux::process::lock::lock;
use crate::linux::process::ptrace::{self, Registers, Thread, Tid};

/// What a new tracer runs, given its member.
pub type Tracing = Box<dyn FnOnce(Arc<Member>) + Send>;

/// How many threads one tracer keeps.
pub const SHARE: usize = 64;
/// A signal whose only effect is to stop the bell.
const RING: i32 = libc::SIGUSR1;

/// A thread on its way to another tracer, and the registers that it gets on arrival.
pub struct Parcel {
    pub tid: Tid,
    pub process: Tid,
    pub registers: Box<Registers>,
}

/// A tracer that takes threads from others.
pub struct Member {
    /// Threads on their way to it; `None` once it takes no more.
    parcels: Mutex<Option<Vec<Parcel>>>,
    count: AtomicUsize,
    /// A process that it also traces. A signal to this process ends the tracer's wait, whenever it arrives.
    bell: Tid,
}

impl Member {
    /// Takes the threads that are on their way.
    pub fn take(&self) -> Vec<Parcel> {
        lock(&self.parcels).as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// It traces no thread: unless one is on its way, it takes no more, and its tracer ends when the bell does.
    pub fn close(&self) {
        let mut parcels = lock(&self.parcels);
        // A bell that was waited for may have left its id to another process.
        if parcels.as_ref().is_some_and(Vec::is_empty) {
            *parcels = None;
            // SAFETY: takes numbers; the bell is a child of this thread that nobody has waited for.
            unsafe { libc::kill(self.bell, libc::SIGKILL) };
        }
    }

    /// Its bell is gone, so nobody can tell it of threads any more: takes those that are on their way, and no others.
    pub fn take_last(&self) -> Vec<Parcel> {
        lock(&self.parcels).take().unwrap_or_default()
    }

    /// It has a thread less.
    pub fn note_lost(&self) {
        let _ = self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
    }

    pub fn is_bell(&self, tid: Tid) -> bool {
        tid == self.bell
    }

    fn give(&self, parcel: Parcel) -> Result<(), Parcel> {
        match lock(&self.parcels).as_mut() {
            Some(parcels) => parcels.push(parcel),
            None => return Err(parcel),
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        // SAFETY: takes numbers.
        unsafe { libc::kill(self.bell, RING) };
        Ok(())
    }
}

/// The tracers that take threads from others.
#[derive(Default)]
pub struct Crew {
    members: Mutex<Vec<Arc<Member>>>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
}

impl Crew {
    /// Hands over a new thread, which is stopped for the caller and has not run yet; `false` if the caller keeps it.
    /// `tracing` makes the function that a further tracer runs.
    pub fn give_away(&self, Thread { process, tid }: Thread, tracing: impl Fn() -> Tracing) -> bool {
        let Ok(registers) = ptrace::registers(tid) else { return false };
        let Some(member) = self.member_with_room(&tracing) else { return false };
        let parked = Registers { rip: Entry::Park.address(), orig_rax: u64::MAX, ..registers };
        if ptrace::set_registers(tid, &parked).and_then(|()| ptrace::let_go(tid)).is_err() {
            // The thread was killed.
            return false;
        }
        let mut parcel = Parcel { tid, process, registers: Box::new(registers) };
        let mut member = Some(member);
        // The member may have ended since; then a new one takes the thread. If none can start, the thread stays parked.
        loop {
            match member.as_ref().map(|member| member.give(parcel)) {
                Some(Ok(())) => return true,
                Some(Err(back)) => parcel = back,
                None => return true,
            }
            member = self.member_with_room(&tracing);
        }
    }

    /// Waits for all tracers.
    pub fn join(&self) {
        while let Some(one) = { lock(&self.threads).pop() } {
            let _ = one.join();
        }
    }

    /// A member that has room; starts a new one if necessary.
    fn member_with_room(&self, tracing: &impl Fn() -> Tracing) -> Option<Arc<Member>> {
        let mut members = lock(&self.members);
        members.retain(|member| lock(&member.parcels).is_some());
        if let Some(member) = members.iter().rev().find(|member| member.count.load(Ordering::Relaxed) < SHARE) {
            return Some(Arc::clone(member));
        }
        let (sender, receiver) = mpsc::channel();
        let tracing = tracing();
        let begun = thread::Builder::new().stack_size(256 << 10).spawn(move || {
            let bell = fork_bell();
            let member = Arc::new(Member { parcels: Mutex::new(Some(Vec::new())), count: AtomicUsize::new(0), bell });
            let is_usable = bell > 0 && ptrace::seize(bell).is_ok();
            let _ = sender.send(is_usable.then(|| Arc::clone(&member)));
            if is_usable {
                tracing(member);
            }
        });
        let mut threads = lock(&self.threads);
        // A thread that nobody joins or drops keeps its stack.
        threads.retain(|thread| !thread.is_finished());
        threads.push(begun.ok()?);
        drop(threads);
        let member = receiver.recv().ok()??;
        members.push(Arc::clone(&member));
        Some(member)
    }
}

/// A process that does nothing, and ends with the calling thread.
fn fork_bell() -> Tid {
    // SAFETY: the copy makes only calls that are allowed after a fork and never returns.
    unsafe {
        // Before it is there: setting that discards a signal that has just come, and with it the word of a thread.
        libc::signal(RING, libc::SIG_IGN);
        match libc::fork() {
            0 => {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::syscall(libc::SYS_close_range, 0, i32::MAX, 0);
                loop {
                    libc::pause();
                }
            }
            bell => bell,
        }
    }
}
