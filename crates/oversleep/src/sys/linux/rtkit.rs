//! RealtimeKit, a daemon on desktop Linux that grants real-time policies to programs without privileges.

use oversleep_rtkit::{Reason, Refusal};

use crate::outcome::{Denied, Why};

/// Asks for a real-time policy for the calling thread.
pub(crate) fn ask_for_real_time(priority: u8) -> Result<(), Denied> {
    oversleep_rtkit::ask_for_real_time(priority).map(drop).map_err(denial)
}

fn denial(refusal: Refusal) -> Denied {
    let why = match refusal.reason {
        Reason::Unavailable => Why::Unsupported { what: "RealtimeKit to be asked (rtkit-daemon on the system bus)" },
        Reason::Forbidden { call, errno } => Why::Forbidden { call, errno },
        Reason::Failed { call, errno } => Why::Failed { call, errno },
    };
    Denied { why, how: refusal.how }
}
