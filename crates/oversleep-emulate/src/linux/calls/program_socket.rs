//! A socket of a program, held for as long as the supervisor asks the kernel about it.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use oversleep_record::Nanos;

use super::timeouts::Way;
use crate::linux::process::ptrace::Tid;

/// A socket, or another file.
pub struct Socket(OwnedFd);

impl Socket {
    /// The file of a thread's descriptor.
    ///
    /// # Errors
    /// `EBADF` if it has no such descriptor; others if the system hides it.
    pub fn fetch(process: Tid, tid: Tid, descriptor: i32) -> io::Result<Socket> {
        /// A thread, which may have descriptors of its own (Linux 6.9).
        const THREAD: libc::c_int = libc::O_EXCL;
        let open = |tid: Tid, flags| call(libc::SYS_pidfd_open, [tid, flags, 0]);
        let opened = open(tid, THREAD).or_else(|error| match error.raw_os_error() {
            Some(libc::EINVAL) => open(process, 0),
            _ => Err(error),
        })?;
        call(libc::SYS_pidfd_getfd, [opened.as_raw_fd(), descriptor, 0]).map(Socket)
    }

    fn option<T>(&self, option: libc::c_int) -> Option<T> {
        let mut value = std::mem::MaybeUninit::<T>::zeroed();
        let mut length = size_of::<T>() as libc::socklen_t;
        let at = value.as_mut_ptr().cast::<c_void>();
        // SAFETY: there is room for what is written; the callers name types of numbers.
        // https://man7.org/linux/man-pages/man2/getsockopt.2.html
        unsafe {
            let got = libc::getsockopt(self.0.as_raw_fd(), libc::SOL_SOCKET, option, at, &raw mut length);
            (got == 0).then(|| value.assume_init())
        }
    }

    /// Its address family; `None` if it is no socket.
    pub fn family(&self) -> Option<libc::c_int> {
        self.option(libc::SO_DOMAIN)
    }

    /// The kernel's timeout in that direction; `None` if it has none, or is no socket.
    pub fn timeout(&self, way: Way) -> Option<Nanos> {
        let time: libc::timeval = self.option(match way {
            Way::Receives => libc::SO_RCVTIMEO,
            Way::Sends => libc::SO_SNDTIMEO,
        })?;
        let span = time.tv_sec.checked_mul(1_000_000_000)?.checked_add(time.tv_usec * 1_000)?;
        (1..i64::MAX / 4).contains(&span).then_some(Nanos(span))
    }

    /// Whether calls wait until there are more bytes than one.
    pub fn waits_for_more(&self) -> bool {
        self.option::<libc::c_int>(libc::SO_RCVLOWAT).is_some_and(|bytes| bytes > 1)
    }

    /// Whether connections can be accepted from it.
    pub fn listens(&self) -> bool {
        self.option::<libc::c_int>(libc::SO_ACCEPTCONN) == Some(1)
    }

    /// Whether calls fail instead of waiting.
    pub fn is_non_blocking(&self) -> bool {
        // SAFETY: takes numbers only.
        let flags = unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_GETFL) };
        flags != -1 && flags & libc::O_NONBLOCK != 0
    }

    /// Its inode, which tells it from others; 0 if that isn't known.
    pub fn inode(&self) -> u64 {
        // SAFETY: a struct of numbers, which is writable.
        unsafe {
            let mut about: libc::stat = std::mem::zeroed();
            if libc::fstat(self.0.as_raw_fd(), &raw mut about) == 0 { about.st_ino } else { 0 }
        }
    }
}

/// Makes a call that returns a descriptor.
fn call(number: libc::c_long, [first, second, third]: [libc::c_int; 3]) -> io::Result<OwnedFd> {
    // SAFETY: the callers' calls take numbers only, and return a descriptor that nobody else owns.
    // https://man7.org/linux/man-pages/man2/pidfd_getfd.2.html
    unsafe {
        match libc::syscall(number, first, second, third) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor as i32)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_kernel_says_what_a_descriptor_is() {
        // SAFETY: take nothing.
        let (process, tid) = unsafe { (libc::getpid(), libc::gettid()) };
        let (one, other) = UnixStream::pair().expect("sockets");
        let of = |descriptor: i32| Socket::fetch(process, tid, descriptor);
        let Ok(socket) = of(one.as_raw_fd()) else { return oversleep_testing::skip("pidfd_getfd is refused") };
        assert_eq!(socket.family(), Some(libc::AF_UNIX));
        assert_eq!(
            (socket.timeout(Way::Receives), socket.is_non_blocking(), socket.waits_for_more()),
            (None, false, false)
        );
        assert_ne!(socket.inode(), of(other.as_raw_fd()).expect("a socket").inode());
        assert_eq!(socket.inode(), of(one.try_clone().expect("a duplicate").as_raw_fd()).expect("a socket").inode());
        one.set_read_timeout(Some(Duration::from_secs(2))).expect("a timeout");
        one.set_nonblocking(true).expect("a flag");
        assert_eq!((socket.timeout(Way::Receives), socket.is_non_blocking()), (Some(Nanos::from_secs(2)), true));
        let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
        assert!(of(server.as_raw_fd()).expect("a socket").listens() && !socket.listens());
        let file = std::fs::File::open("/proc/self/stat").expect("a file");
        let file = of(file.as_raw_fd()).expect("a file");
        assert_eq!((file.family(), file.timeout(Way::Receives)), (None, None));
        assert_eq!(of(1_000_000).err().and_then(|error| error.raw_os_error()), Some(libc::EBADF));
    }
}
