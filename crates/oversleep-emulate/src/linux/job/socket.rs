//! The sockets of a supervisor: pairs between its processes, and the control socket at which others change what it emulates.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use crate::Failure;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a request may take.
const PATIENCE_WITH_REQUESTS: Duration = Duration::from_secs(1);
/// The longest answer: a report has the program's arguments.
const ANSWER_MAX: u64 = 64 << 20;

/// The names of the control socket of process `front`. Containers of one network may each have a process of that id, so the
/// first name has the process's own namespace of ids. The second one is for programs in a namespace below that.
fn addresses(front: i32) -> [io::Result<SocketAddr>; 2] {
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    [format!("oversleep-emulate-{}-{front}", space.display()), format!("oversleep-emulate-{front}")]
        .map(SocketAddr::from_abstract_name)
}

/// The control sockets of the supervisor of process `front`.
pub fn listen(front: i32) -> impl Iterator<Item = UnixListener> {
    addresses(front).into_iter().flatten().flat_map(|address| UnixListener::bind_addr(&address))
}

/// Reads a request.
///
/// # Errors
/// It didn't come in time.
pub fn request(connection: &UnixStream) -> io::Result<String> {
    connection.set_read_timeout(Some(PATIENCE_WITH_REQUESTS))?;
    connection.set_write_timeout(Some(PATIENCE_WITH_REQUESTS))?;
    let mut line = String::new();
    BufReader::new(connection).take(1_000).read_line(&mut line)?;
    Ok(line)
}

/// Sends a command to the supervisor of process `front`, and returns its answer.
///
/// # Errors
/// There is no such supervisor, it belongs to another user, or it refuses.
pub fn control(front: i32, words: &str) -> Result<String, Failure> {
    let failed = |error: io::Error| {
        let hint = "the program's environment has the number to give: OVERSLEEP_EMULATE";
        Failure::Own(format!("no emulated program {front} answers ({error}); {hint}"))
    };
    let [own, any] = addresses(front).map(|address| address.and_then(|address| UnixStream::connect_addr(&address)));
    // Another user may have taken the name.
    let of_supervisor = |socket: UnixStream| match user_of(&socket) {
        Some(user) if user == own_user() || own_user() == 0 => Ok(socket),
        _ => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user")),
    };
    let mut socket = own.and_then(of_supervisor).or_else(|_| any.and_then(of_supervisor)).map_err(failed)?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    writeln!(socket, "{words}").map_err(failed)?;
    let mut answer = String::new();
    BufReader::new(socket).take(ANSWER_MAX).read_line(&mut answer).map_err(failed)?;
    match answer.trim_end().split_once(' ') {
        Some(("ok", answer)) => Ok(answer.to_owned()),
        Some(("no", why)) => Err(Failure::Own(why.to_owned())),
        _ => Err(Failure::Own(format!("the supervisor of {front} ended without an answer"))),
    }
}

/// Whether this user or root is at the other end.
pub fn is_of_this_user(socket: &UnixStream) -> bool {
    user_of(socket).is_some_and(|user| user == own_user() || user == 0)
}

fn own_user() -> u32 {
    // SAFETY: takes nothing.
    unsafe { libc::getuid() }
}

/// The user at the other end.
fn user_of(socket: &UnixStream) -> Option<u32> {
    let mut who = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: there is room for what is told. https://man7.org/linux/man-pages/man7/unix.7.html
    let told = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut who).cast(),
            &raw mut length,
        )
    };
    (told == 0).then_some(who.uid)
}

/// The two ends of a connection, with descriptors above those of the standard streams.
///
/// # Errors
/// The system's refusal.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let both = UnixStream::pair().and_then(|(one, other)| Ok((raised(one.into())?, raised(other.into())?)));
    both.map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL | libc::EMFILE) => {
            io::Error::other("too few files may be open: raise that limit (ulimit -n)")
        }
        _ => error,
    })
}

/// A duplicate of the descriptor above 9, which no shell script uses by itself, closed on exec.
fn raised(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: duplicates a descriptor that is open. https://man7.org/linux/man-pages/man2/fcntl.2.html
    match unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 10) } {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the number was given to us just now.
        number => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
    }
}

/// Sends a number. Doesn't allocate.
pub fn send(to: RawFd, number: i32) -> io::Result<()> {
    let bytes = number.to_ne_bytes();
    // SAFETY: the bytes are readable. MSG_NOSIGNAL: an end that is gone is an error, not a signal.
    match unsafe { libc::send(to, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) } {
        4 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Receives a number; `None` if the other end is gone. Doesn't allocate.
pub fn receive(from: RawFd) -> Option<i32> {
    let mut bytes = [0_u8; 4];
    loop {
        // SAFETY: the bytes are writable.
        match unsafe { libc::recv(from, bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_WAITALL) } {
            4 => return Some(i32::from_ne_bytes(bytes)),
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}

/// Reads until the other end closes.
pub fn receive_all(from: OwnedFd) -> Option<Vec<u8>> {
    let mut socket = UnixStream::from(from);
    socket.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
