//! RealtimeKit, a daemon on desktop Linux that grants real-time policies to programs without privileges.
//! <https://gitlab.freedesktop.org/pipewire/rtkit>
//!
//! This client asks it through the system's D-Bus, with two calls and their answers. The crate `zbus` would do the same
//! with some 25 direct dependencies, an executor and two threads.

mod message;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::outcome::{Denied, Why};
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

/// Asks for a real-time policy for the calling thread: `SCHED_RR`, with this priority or the highest that is granted, and
/// reset on fork.
///
/// First it lowers the process's limits on the computation of its real-time threads, as RealtimeKit demands.
pub(crate) fn ask_for_real_time(priority: u8) -> Result<(), Denied> {
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

fn limit_computation() -> Result<(), Denied> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is writable, then readable. https://man7.org/linux/man-pages/man2/getrlimit.2.html
    let result = unsafe {
        libc::getrlimit(libc::RLIMIT_RTTIME, &raw mut limit);
        limit.rlim_max = limit.rlim_max.min(LONGEST_COMPUTATION_US);
        limit.rlim_cur = limit.rlim_cur.min(limit.rlim_max);
        libc::setrlimit(libc::RLIMIT_RTTIME, &raw const limit)
    };
    let how = "allow setrlimit in this process's seccomp filter";
    if result < 0 { Err(super::denied("setrlimit(RLIMIT_RTTIME)", how)) } else { Ok(()) }
}

fn make_real_time(socket: &str, thread: u64, priority: u8) -> Result<(), Denied> {
    let failed = |error: io::Error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => NO_BUS,
            _ => Why::Failed { call: CALL, errno: error.raw_os_error().unwrap_or(libc::EPROTO) },
        };
        Denied { why, how: "start D-Bus and install rtkit, or raise the limit on real-time priorities (rtprio)" }
    };
    let mut bus = Bus::connect(socket).map_err(failed)?;
    let mut call = |call: &Call<'_>| -> Result<Vec<u8>, Denied> {
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
    let highest = message::variant_number(&highest).and_then(|number| u32::try_from(number).ok()).unwrap_or(1);
    let granted = u32::from(priority).min(highest).max(1);
    call(&Call {
        destination: SERVICE,
        path: PATH,
        interface: SERVICE,
        member: "MakeThreadRealtime",
        signature: "tu",
        body: &[&thread.to_le_bytes()[..], &granted.to_le_bytes()[..]].concat(),
    })?;
    Ok(())
}

const NO_BUS: Why = Why::Unsupported { what: "RealtimeKit to be asked (rtkit-daemon on the system bus)" };

/// The denial for an error of the bus or the daemon.
fn refused(name: &str) -> Denied {
    let why = match name.strip_prefix("org.freedesktop.DBus.Error.") {
        Some("ServiceUnknown" | "NameHasNoOwner" | "Spawn.ServiceNotFound") => NO_BUS,
        Some("AccessDenied" | "AuthFailed") => Why::Forbidden { call: CALL, errno: libc::EACCES },
        Some("NoMemory") => Why::Failed { call: CALL, errno: libc::ENOMEM },
        _ => Why::Failed { call: CALL, errno: libc::EIO },
    };
    Denied { why, how: "install rtkit, and check its log (journalctl -u rtkit-daemon) for why it refused" }
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

#[cfg(test)]
mod tests;
