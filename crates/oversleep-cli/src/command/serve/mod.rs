//! `serve`: the sampler for monitoring.

mod hourly;
mod pushing;
mod source;

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use oversleep_lab::Laboratory;
use oversleep_lab::live::Live;
use oversleep_measure::StopFlag;
use oversleep_record::{CommandName, Nanos};
use oversleep_sampler::{Covers, Sampling};
use oversleep_serve::push::Destination;
use oversleep_serve::server::Server;
use oversleep_system::examples::Examples;

use self::hourly::Hourly;
use self::pushing::Pushing;
use self::source::Samplers;
use super::live::lacking::lacking;
use super::live::reserved;
use super::live::threads::Threads;
use super::{measuring, watch};
use crate::args::{AMOUNT, MachineArgs, OutputArgs, value};
use crate::command::spec::{FAILED, USAGE, examples, exits};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::message;
use crate::output::{self, Delivery};
use crate::request::machine;

/// Where it listens unless an address is named.
const ADDRESS: &str = "127.0.0.1:9899";
/// The most samplers: each is a thread, and has series of its own.
const SAMPLERS_MAX: usize = 8;
/// How often pages of code that ran once, at the start or to draw findings, leave this process.
const GIVE_BACK_EVERY: Duration = Duration::from_secs(60);
/// Clocks whose reads are timed once a minute: the two of most languages, and the library's.
const CLOCKS: [&str; 3] = ["std-instant", "std-systemtime", "oversleep"];

/// Examples with names of this system.
fn examples_here() -> String {
    let Examples { waits: [sleep, other], .. } = oversleep_native::examples();
    examples(&[
        ("oversleep serve".to_owned(), "http://127.0.0.1:9899/metrics"),
        ("oversleep serve --listen '[::]:9899'".to_owned(), "for other machines, too"),
        (format!("oversleep serve --wait {sleep},{other}"), "two waits"),
        ("oversleep serve --otlp http://127.0.0.1:4318/v1/metrics".to_owned(), "pushes as well"),
    ])
}

/// Sample how late waits end, at less than a thousandth of a CPU, for Prometheus or OpenTelemetry
///
/// What `oversleep watch` shows, as metrics: native histograms of lateness over protocol buffers, OpenMetrics or text, as
/// the scraper asks, and OTLP where metrics are pushed. /result.json is the last hour as a result that every command reads.
/// It speaks plain HTTP, on loopback unless --listen says otherwise. Metrics have neither names of hosts, users and programs
/// nor command lines; /result.json has all that a result has. Windows and macOS count neither steal nor throttling nor CPU
/// pressure, so these metrics are missing there, and macOS has no --cpus.
#[derive(Args, Debug)]
#[command(before_help = examples_here(), after_help = exits("", &[(0, "success, also when Ctrl-C or SIGTERM ends it"), FAILED, USAGE]))]
pub(super) struct Serve {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT", default_value = ADDRESS)]
    listen: String,

    /// The waits to sample [default: this system's simplest sleep]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    wait: Vec<String>,

    /// The short wait
    #[arg(long, value_name = "DURATION", value_parser = value::request, default_value = "1ms", help_heading = AMOUNT)]
    request: Nanos,

    /// A sampler on each of these CPUs, with the label cpu [default: one, wherever the system puts it, but for isolated and
    /// tickless CPUs]
    #[arg(long, value_name = "CPUS", value_parser = value::cpus)]
    cpus: Option<value::CpuList>,

    /// Push metrics there as well, each minute [default: what OTEL_EXPORTER_OTLP_ENDPOINT says]
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,

    /// Write a result file into this directory at the end of each hour, and keep the newest 48
    ///
    /// Each has the waits since the file before, minute by minute. A file is complete when it has its name, and isn't
    /// changed afterwards. Every command reads it, and `oversleep archive add` keeps it for years.
    #[arg(long, value_name = "DIR")]
    hourly: Option<PathBuf>,

    /// How long to serve [default: until Ctrl-C]
    #[arg(long = "for", id = "for", value_name = "DURATION", value_parser = value::watch_time, help_heading = AMOUNT)]
    time: Option<Nanos>,

    #[command(flatten)]
    output: OutputArgs,
}

impl Serve {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        // Before any other thread: 16 clients at a time made 16 heaps of 0.3 MB each, which stayed.
        oversleep_native::use_one_heap();
        let lab = machine::laboratory(&MachineArgs::default())?;
        let variable = |name: &str| std::env::var(name).ok();
        let destination = match Destination::of(self.otlp.as_deref(), &variable) {
            // The environment is for all programs, so what it says that can't be done here stops nothing.
            Err(why) if self.otlp.is_none() => {
                message::warning(&format!("nothing is pushed: {why}"));
                None
            }
            destination => destination.map_err(Failure::usage)?,
        };
        let every = destination.as_ref().map(|destination| destination.every);
        let delivery = Delivery::only_named(&self.output, &[])?.without_report().of_measured();
        let mut hourly = self.hourly.as_deref().map(Hourly::of).transpose()?;
        let listener = listen(&self.listen)?;
        let stop = StopFlag::new();
        // All threads that start from here on stay off, but for samplers on CPUs that were named.
        let kept_off = reserved::keep_off(&lab, self.output.quiet);
        let lives = self.lives(&lab, &stop)?;
        let signals = interrupt::raise_on_signal(&stop);
        let threads = Threads::start(&lives)?;
        let source = Arc::new(Samplers::new(lives.clone()));
        let failed = |error| Failure::failed(format!("can't start a thread: {error}"));
        let server = Server::start(listener, source.clone()).map_err(failed)?;
        let pushing = destination.map(|to| Pushing::start(to, Arc::clone(&source))).transpose().map_err(failed)?;
        self.say(server.address(), every);
        let (began, time) = (Instant::now(), self.time.and_then(Nanos::to_std));
        let left = || time.map(|time| time.saturating_sub(began.elapsed()));
        let mut given_back = None;
        while !stop.is_raised() && !threads.is_any_over() && left() != Some(Duration::ZERO) {
            if given_back.is_none_or(|at: Instant| at.elapsed() >= GIVE_BACK_EVERY) {
                oversleep_native::give_back_code();
                given_back = Some(Instant::now());
            }
            let pause = left().unwrap_or(GIVE_BACK_EVERY).min(GIVE_BACK_EVERY);
            thread::park_timeout(hourly.as_ref().map_or(pause, |hourly| pause.min(hourly.left())));
            hourly.iter_mut().for_each(|hourly| hourly.look(&lives, false));
        }
        let ended = threads.end(&stop);
        drop(server);
        drop(pushing);
        drop(signals);
        drop(kept_off);
        ended?;
        hourly.iter_mut().for_each(|hourly| hourly.look(&lives, true));
        let file = Live::result_of(lives.iter().map(AsRef::as_ref));
        delivery.deliver(&file, output::stem(&file))?;
        Ok(Exit::Fine)
    }

    /// A sampler for each wait on each CPU.
    fn lives(&self, lab: &Laboratory, stop: &StopFlag) -> Result<Vec<Arc<Live>>, Failure> {
        let waits: Vec<String> = match &self.wait[..] {
            [] => vec![watch::wait_of(None)?],
            names => names.iter().map(|name| watch::wait_of(Some(name))).collect::<Result<_, _>>()?,
        };
        let mut known = BTreeSet::new();
        let waits: Vec<String> = waits.into_iter().filter(|wait| known.insert(wait.clone())).collect();
        let cpus: Vec<Option<u32>> = match &self.cpus {
            None => vec![None],
            Some(cpus) => cpus.0.iter().copied().map(Some).collect(),
        };
        if waits.len() * cpus.len() > SAMPLERS_MAX {
            let each = format!("{} waits on {} CPUs", waits.len(), cpus.len());
            return Err(Failure::usage(format!("{each} are more than {SAMPLERS_MAX} samplers; name fewer")));
        }
        let pairs = waits.iter().flat_map(|wait| cpus.iter().map(move |cpu| (wait, *cpu)));
        let live = |(wait, cpu): (&String, Option<u32>)| {
            let sampling = Sampling {
                requested: self.request,
                covers: Covers::LastHour,
                clocks: CLOCKS.to_vec(),
                ..Sampling::of(wait)
            };
            let live = lab.live(sampling, cpu, CommandName::Serve, self.output.name.clone(), stop);
            let live = live.map(Arc::new).map_err(|error| measuring::explain(&error))?;
            let named = cpu.unwrap_or_default();
            live.check().map_err(|why| Failure::usage(format!("--cpus {named}: {why}")))?;
            Ok(live)
        };
        pairs.map(live).collect()
    }

    fn say(&self, address: SocketAddr, every: Option<Duration>) {
        if !address.ip().is_loopback() {
            message::warning(&format!("{address} is reachable from other machines, without a password or encryption"));
        }
        if !self.output.quiet {
            let pushed = every.map(|every| {
                format!(", and pushing every {}", Nanos(i64::try_from(every.as_nanos()).unwrap_or(i64::MAX)))
            });
            let pushed = pushed.unwrap_or_default();
            message::note(&format!("Serving http://{address}/metrics{pushed}. Ctrl-C ends it."));
            lacking(&oversleep_native::here().counters().totals).iter().for_each(|words| message::note(words));
        }
    }
}

/// Listens there.
fn listen(address: &str) -> Result<TcpListener, Failure> {
    let addresses = address.to_socket_addrs().map_err(|error| {
        Failure::usage(format!("--listen {address}: {error}; write an address and a port, such as {ADDRESS}"))
    })?;
    // `[::]` is every address of a machine, also of one without IPv6.
    let of_old = |address: SocketAddr| {
        let is_all = address.is_ipv6() && address.ip().is_unspecified();
        is_all.then(|| SocketAddr::from((std::net::Ipv4Addr::UNSPECIFIED, address.port())))
    };
    let addresses: Vec<SocketAddr> = addresses.flat_map(|address| [Some(address), of_old(address)]).flatten().collect();
    TcpListener::bind(&addresses[..]).map_err(|error| {
        let next = "name another port by --listen, or end what listens there";
        Failure::failed(format!("can't listen on {address}: {error}; {next}"))
    })
}
