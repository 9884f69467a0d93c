//! What the kernel adds on purpose: timer slack, and rounding.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use oversleep_why::{Part, Wait};

use super::{SPAN, Scenario, us};
use crate::system::observe::{Running, judge, p50, quantile, waits_from, waits_of};
use crate::system::victim;

pub const ALL: &[(&str, Scenario)] = &[
    ("slack 1 ns", || slack(1, 0, 1_000)),
    ("slack 50 µs", || slack(50_000, 45_000, 50_000)),
    ("slack 5 ms", || slack(5_000_000, 500_000, 5_000_000)),
    ("epoll_wait rounds", epoll_rounds),
    ("select's share", selects_share),
];

fn slack(ns: u64, least: i64, most: i64) -> Result<String, String> {
    let victim = Running::start(&mut victim::command(&format!("slack:{ns}")))?;
    sleep(Duration::from_millis(100));
    let waits = waits_of(victim.pid(), SPAN)?;
    let seen = p50(&waits, Part::Slack)?;
    judge((least..=most).contains(&seen), format!("slack {} at p50 of {} waits", us(seen), waits.len()))
}

fn epoll_rounds() -> Result<String, String> {
    let program = "import select\ne = select.epoll()\nwhile True: e.poll(0.0012)";
    let waits = waits_from(Command::new("python3").args(["-c", program]), SPAN)?;
    let waits: Vec<Wait> = waits.into_iter().filter(|wait| wait.call.as_deref() == Some("epoll_wait")).collect();
    let waits: Vec<Wait> = waits.into_iter().map(|wait| wait.wanting(1_200_000)).collect();
    let api = p50(&waits, Part::Api)?;
    judge((800_000..830_000).contains(&api), format!("api {} of what is wanted (1.2 ms)", us(api)))
}

fn selects_share() -> Result<String, String> {
    let program = "import select\nwhile True: select.select([], [], [], 0.3)";
    let waits = waits_from(Command::new("python3").args(["-c", program]), Duration::from_secs(4))?;
    let waits: Vec<Wait> = waits.into_iter().filter(|wait| wait.requested_ns == Some(300_000_000)).collect();
    let most = quantile(&waits, Part::Slack, 0.99)?;
    judge((150_000..=300_000).contains(&most), format!("slack up to {} of 300 ms", us(most)))
}
