//! Timed waits for sockets and completions that never come.

use std::net::{Ipv4Addr, UdpSocket};
use std::os::windows::io::{AsRawHandle, AsRawSocket, FromRawHandle, OwnedHandle};

use oversleep_record::Unavailable;
use oversleep_system::{Target, WaitEnd, WaitInfo, Waiter, waits};
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Networking::WinSock::{
    FD_SET, POLLIN, SOCKET, SOCKET_ERROR, TIMEVAL, WSAGetLastError, WSAPOLLFD, WSAPoll, select,
};
use windows_sys::Win32::System::IO::{
    CreateIoCompletionPort, GetQueuedCompletionStatus, OVERLAPPED, PostQueuedCompletionStatus,
};
use windows_sys::Win32::System::Threading::INFINITE;

use super::args;
use super::entry::{ended_unless_woken, proved_at_once, too_long};
use crate::native::waits::calls;
use crate::windows::os;

calls! { waits::WINDOWS;
    SELECT = "select" => proved_at_once(Select(Silent::open()?)),
    WSA_POLL = "wsapoll" => proved_at_once(Poll(Silent::open()?)),
    GET_QUEUED_COMPLETION_STATUS = "get-queued-completion-status" => proved_at_once(Completions(CompletionPort::new()?)),
}

/// A socket that receives nothing: bound to the machine itself and connected to itself, so that nobody else's packets
/// reach it. Nothing leaves the machine.
struct Silent(UdpSocket);

impl Silent {
    fn open() -> Result<Silent, Unavailable> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| {
            socket.connect(socket.local_addr()?)?;
            Ok(socket)
        });
        socket.map(Silent).map_err(|error| Unavailable::failed("a socket on 127.0.0.1", error))
    }

    fn raw(&self) -> SOCKET {
        self.0.as_raw_socket() as SOCKET
    }
}

/// How a wait for sockets ended, by how many are ready.
fn ended_by_count(info: &'static WaitInfo, ready: i32) -> WaitEnd {
    match ready {
        0 => WaitEnd::TimedOut,
        SOCKET_ERROR => {
            // SAFETY: takes nothing. https://learn.microsoft.com/windows/win32/api/winsock2/nf-winsock2-wsagetlasterror
            let error = std::io::Error::from_raw_os_error(unsafe { WSAGetLastError() });
            WaitEnd::Failed(Unavailable::failed(info.call, error))
        }
        _ => WaitEnd::Interrupted,
    }
}

struct Select(Silent);

impl Waiter for Select {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = SELECT;
        let Some((tv_sec, tv_usec)) = args::micros(info, target.remaining) else { return too_long(info) };
        let timeout = TIMEVAL { tv_sec, tv_usec };
        let mut readable = FD_SET { fd_count: 1, ..FD_SET::default() };
        readable.fd_array[0] = self.0.raw();
        let none = std::ptr::null_mut;
        // SAFETY: the set names one open socket, the other sets may be null, the timeout is valid to read; the first
        // argument is ignored. https://learn.microsoft.com/windows/win32/api/winsock2/nf-winsock2-select
        ended_by_count(info, unsafe { select(0, &raw mut readable, none(), none(), &raw const timeout) })
    }
}

struct Poll(Silent);

impl Waiter for Poll {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = WSA_POLL;
        let Some(millis) = args::signed_millis(info, target.remaining) else { return too_long(info) };
        let mut socket = WSAPOLLFD { fd: self.0.raw(), events: POLLIN, revents: 0 };
        // SAFETY: one open socket is told, valid to write to.
        // https://learn.microsoft.com/windows/win32/api/winsock2/nf-winsock2-wsapoll
        ended_by_count(info, unsafe { WSAPoll(&raw mut socket, 1, millis) })
    }
}

/// A completion port of this process.
pub(in crate::windows) struct CompletionPort(OwnedHandle);

impl CompletionPort {
    /// A new port, for one thread at a time.
    pub(in crate::windows) fn new() -> Result<CompletionPort, Unavailable> {
        // SAFETY: without a file it makes a new port.
        // https://learn.microsoft.com/windows/win32/api/ioapiset/nf-ioapiset-createiocompletionport
        let handle = unsafe { CreateIoCompletionPort(INVALID_HANDLE_VALUE, std::ptr::null_mut(), 0, 1) };
        if handle.is_null() {
            return Err(os::failed("CreateIoCompletionPort"));
        }
        // SAFETY: a handle just made, owned by nobody else, closed by CloseHandle.
        Ok(CompletionPort(unsafe { OwnedHandle::from_raw_handle(handle) }))
    }

    fn handle(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    /// Queues one completion; returns whether that worked.
    pub(in crate::windows) fn post(&self) -> bool {
        // SAFETY: the port is open, and what is passed is handed on without being looked at.
        // https://learn.microsoft.com/windows/win32/api/ioapiset/nf-ioapiset-postqueuedcompletionstatus
        unsafe { PostQueuedCompletionStatus(self.handle(), 0, 0, std::ptr::null()) != 0 }
    }

    /// Blocks until a completion is queued and takes it; returns whether that worked.
    pub(in crate::windows) fn take(&self) -> bool {
        self.get(INFINITE) != 0
    }

    fn get(&self, millis: u32) -> i32 {
        let (mut bytes, mut key) = (0_u32, 0_usize);
        let mut overlapped: *mut OVERLAPPED = std::ptr::null_mut();
        // SAFETY: the port is open and the three places are valid to write to.
        // https://learn.microsoft.com/windows/win32/api/ioapiset/nf-ioapiset-getqueuedcompletionstatus
        unsafe { GetQueuedCompletionStatus(self.handle(), &raw mut bytes, &raw mut key, &raw mut overlapped, millis) }
    }
}

struct Completions(CompletionPort);

impl Waiter for Completions {
    fn wait(&mut self, target: Target) -> WaitEnd {
        let info = GET_QUEUED_COMPLETION_STATUS;
        let Some(millis) = args::millis(info, target.remaining) else { return too_long(info) };
        ended_unless_woken(info, self.0.get(millis))
    }
}

#[cfg(test)]
mod tests {
    use super::super::conformance::check;
    use super::*;

    #[test]
    fn select_conforms() {
        check(SELECT);
    }

    #[test]
    fn wsapoll_conforms() {
        check(WSA_POLL);
    }

    #[test]
    fn get_queued_completion_status_conforms() {
        check(GET_QUEUED_COMPLETION_STATUS);
    }
}
