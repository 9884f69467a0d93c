//! RealtimeKit's client: two calls over the system's D-Bus, and their answers. The crate `zbus` would do the same with some
//! 25 direct dependencies, an executor and two threads.
#![doc = include_str!("../README.md")]
#![cfg(target_os = "linux")]
#![warn(missing_docs)]

mod message;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use message::{Call, Reply};

const SERVICE: &str = "org.freedesktop.RealtimeKit1";
const PATH: &str = "/org/freedesktop/RealtimeKit1";
const CALL: &str = "org.freedesktop.RealtimeKit1.MakeThreadRealtime";
const SOCKET: &str = "/run/dbus/system_bus_socket";
/// The bus may have to start the daemon first, which asks PolicyKit.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 86_400 } else { 5 });
/// RealtimeKit refuses processes whose real-time threads may compute longer than this without a wait (its
/// `rttime_usec_max`).
const LONGEST_COMPUTATION_US: libc::rlim_t = 200_000;

/// Why the thread has no real-time policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is no bus, or no daemon on it.
    Unavailable,
    /// The system, the bus or the daemon forbids the call.
    Forbidden {
        /// The call.
        call: &'static str,
        /// The system's error number.
        errno: i32,
    },
    /// The call failed for another reason.
    Failed {
        /// The call.
        call: &'static str,
        /// The system's error number.
        errno: i32,
    },
}

/// A refusal: the reason, and what would help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub reason: Reason,
    /// What would help, as an imperative.
    pub how: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (call, verb, errno) = match self.reason {
            Reason::Unavailable => return write!(f, "there is no RealtimeKit on the system bus; {}", self.how),
            Reason::Forbidden { call, errno } => (call, "is forbidden", errno),
            Reason::Failed { call, errno } => (call, "failed", errno),
        };
        write!(f, "{call} {verb} ({}); {}", io::Error::from_raw_os_error(errno), self.how)
    }
}

impl std::error::Error for Refusal {}

/// Asks for a real-time policy for the calling thread: `SCHED_RR`, with this priority or the highest that the daemon grants,
/// and reset on fork. Returns the priority. It takes some milliseconds, and seconds if the daemon has to start.
///
/// First it lowers the process's limits on the computation of its real-time threads (`RLIMIT_RTTIME`) to 200 ms, as
/// RealtimeKit demands.
///
/// # Errors
/// There is no daemon, it refuses, or the limit can't be lowered.
pub fn ask_for_real_time(priority: u8) -> Result<u8, Refusal> {
    limit_computation()?;
    // SAFETY: takes nothing. https://man7.org/linux/man-pages/man2/gettid.2.html
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    let address = std::env::var("DBUS_SYSTEM_BUS_ADDRESS").unwrap_or_default();
    make_real_time(socket(&address), thread as u64, priority)
}

/// The path in an address of the form `unix:path=…`, possibly one of several.
fn socket(address: &str) -> &str {
    let paths = address.split(';').filter_map(|one| one.strip_prefix("unix:path="));
    paths.map(|path| path.split(',').next().unwrap_or(path)).next().unwrap_or(SOCKET)
}

fn limit_computation() -> Result<(), Refusal> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is writable, then readable. https://man7.org/linux/man-pages/man2/getrlimit.2.html
    let result = unsafe {
        libc::getrlimit(libc::RLIMIT_RTTIME, &raw mut limit);
        limit.rlim_max = limit.rlim_max.min(LONGEST_COMPUTATION_US);
        limit.rlim_cur = limit.rlim_cur.min(limit.rlim_max);
        libc::setrlimit(libc::RLIMIT_RTTIME, &raw const limit)
    };
    if result >= 0 {
        return Ok(());
    }
    let (call, errno) = ("setrlimit(RLIMIT_RTTIME)", io::Error::last_os_error().raw_os_error().unwrap_or(0));
    let reason = match errno {
        libc::EPERM | libc::EACCES | libc::ENOSYS => Reason::Forbidden { call, errno },
        _ => Reason::Failed { call, errno },
    };
    Err(Refusal { reason, how: "allow setrlimit in this process's seccomp filter" })
}

/// Asks the daemon of the bus at that socket to give a thread of this process the policy. Returns the priority that it
/// grants.
///
/// # Errors
/// The bus can't be reached, or the daemon refuses.
pub fn make_real_time(socket: &str, thread: u64, priority: u8) -> Result<u8, Refusal> {
    let failed = |error: io::Error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Reason::Unavailable,
            _ => Reason::Failed { call: CALL, errno: error.raw_os_error().unwrap_or(libc::EPROTO) },
        };
        Refusal { reason, how: "start D-Bus and install rtkit, or raise the limit on real-time priorities (rtprio)" }
    };
    let mut bus = Bus::connect(socket).map_err(failed)?;
    let mut call = |call: &Call<'_>| -> Result<Vec<u8>, Refusal> {
        match bus.call(call).map_err(failed)? {
            Reply::Return(body) => Ok(body),
            Reply::Error(name) => Err(refused(&name)),
        }
    };
    let hello =
        Call { destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", member: "Hello", ..Call::NONE };
    call(&Call { interface: "org.freedesktop.DBus", ..hello })?;
    let highest = call(&Call {
        destination: SERVICE,
        path: PATH,
        interface: "org.freedesktop.DBus.Properties",
        member: "Get",
        signature: "ss",
        body: &message::strings(&[SERVICE, "MaxRealtimePriority"]),
    })?;
    let highest = message::variant_number(&highest).and_then(|number| u8::try_from(number).ok()).unwrap_or(1);
    let granted = priority.min(highest).max(1);
    call(&Call {
        destination: SERVICE,
        path: PATH,
        interface: SERVICE,
        member: "MakeThreadRealtime",
        signature: "tu",
        body: &[&thread.to_le_bytes()[..], &u32::from(granted).to_le_bytes()[..]].concat(),
    })?;
    Ok(granted)
}

/// The refusal for an error of the bus or the daemon.
fn refused(name: &str) -> Refusal {
    let reason = match name.strip_prefix("org.freedesktop.DBus.Error.") {
        Some("ServiceUnknown" | "NameHasNoOwner" | "Spawn.ServiceNotFound") => Reason::Unavailable,
        Some("AccessDenied" | "AuthFailed") => Reason::Forbidden { call: CALL, errno: libc::EACCES },
        Some("NoMemory") => Reason::Failed { call: CALL, errno: libc::ENOMEM },
        _ => Reason::Failed { call: CALL, errno: libc::EIO },
    };
    Refusal { reason, how: "install rtkit, and check its log (journalctl -u rtkit-daemon) for why it refused" }
}

/// A connection to a bus.
struct Bus {
    stream: BufReader<UnixStream>,
    serial: u32,
}

impl Bus {
    fn connect(socket: &str) -> io::Result<Bus> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut bus = Bus { stream: BufReader::new(stream), serial: 0 };
        // SAFETY: takes nothing. https://man7.org/linux/man-pages/man2/getuid.2.html
        let user = unsafe { libc::geteuid() }.to_string();
        let user: String = user.bytes().map(|digit| format!("{digit:02x}")).collect();
        bus.send(format!("\0AUTH EXTERNAL {user}\r\n").as_bytes())?;
        let mut line = Vec::new();
        bus.stream.by_ref().take(512).read_until(b'\n', &mut line)?;
        if !line.starts_with(b"OK ") {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        bus.send(b"BEGIN\r\n")?;
        Ok(bus)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Makes a call and waits for its answer. Everything else that arrives is skipped.
    fn call(&mut self, call: &Call<'_>) -> io::Result<Reply> {
        const SKIPPED_MAX: usize = 64;
        self.serial += 1;
        self.send(&call.encode(self.serial))?;
        for _ in 0..SKIPPED_MAX {
            if let Some(reply) = message::read(&mut self.stream, self.serial)? {
                return Ok(reply);
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}
