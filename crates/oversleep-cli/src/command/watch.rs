//! `watch`: the sampler live in a terminal.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use oversleep_lab::catalogue::Kind;
use oversleep_lab::live::Live;
use oversleep_measure::StopFlag;
use oversleep_record::{CommandName, Nanos};
use oversleep_sampler::Sampling;
use oversleep_system::examples::Examples;

use super::live::lacking::lacking;
use super::live::watching::watched;
use super::live::who::Witness;
use super::live::witness::{self, Choice};
use super::live::{self, Shown, remote, reserved, threads};
use super::measuring;
use crate::args::{AMOUNT, MachineArgs, OutputArgs, value};
use crate::command::spec::{WATCHES_ANY, examples, exits};
use crate::exit::{self, Exit, Failure};
use crate::message;
use crate::output::{self, Delivery};
use crate::request::{machine, names};

/// Examples with names of this system.
fn examples_here() -> String {
    let Examples { waits: [sleep, _], .. } = oversleep_native::examples();
    examples(&[
        ("oversleep watch".to_owned(), "until Ctrl-C, which leaves a result"),
        (format!("oversleep watch {sleep} --late 200us"), "names each wait that ends so late"),
        ("oversleep watch --for 10min --out r.json".to_owned(), ""),
        ("oversleep watch --json-lines".to_owned(), "a line for each second and each late wait"),
        ("oversleep watch http://127.0.0.1:9899".to_owned(), "what `oversleep serve` samples there"),
    ])
}

/// Watch how late waits end, at less than a thousandth of a CPU, and name late ones as they happen
///
/// Ten waits a second: eight of 1 ms in a row, and a pause of random length, which is measured as well. It pauses longer
/// where that takes more than a thousandth of a CPU. A late wait is named, at its time in UTC, with what the counters say of
/// it: how long the thread waited for a CPU, and how much time was stolen or throttled meanwhile. Windows and macOS count
/// none of these three. In a terminal, `p` pauses the table while sampling goes on, and `q` ends it as Ctrl-C does.
#[derive(Args, Debug)]
#[command(before_help = examples_here(), after_help = exits("", WATCHES_ANY))]
pub(super) struct Watch {
    /// The wait to watch, or the URL of a machine that serves [default: this system's simplest sleep]
    #[arg(value_name = "NAME|URL")]
    wait: Option<String>,

    /// How long to watch [default: until Ctrl-C]
    #[arg(long = "for", id = "for", value_name = "DURATION", value_parser = value::watch_time, help_heading = AMOUNT)]
    time: Option<Nanos>,

    /// The short wait [default: 1ms]
    #[arg(long, value_name = "DURATION", value_parser = value::request, help_heading = AMOUNT)]
    request: Option<Nanos>,

    /// How late a wait ends that is named [default: 1ms]
    #[arg(long, value_name = "DURATION", value_parser = value::request, help_heading = AMOUNT)]
    late: Option<Nanos>,

    /// What names a late wait's causes [default: kernel where that is granted]
    ///
    /// kernel: events of the kernel, as `oversleep why` follows them: who ran instead (Linux, root or CAP_BPF and
    /// CAP_PERFMON; Windows, an administrator, and only where you choose it). A program in the kernel then runs at each
    /// switch of this machine. counters: what this process counts.
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    by: Option<Choice>,

    /// Print a line of JSON for each second and each late wait on standard output
    #[arg(long)]
    json_lines: bool,

    #[command(flatten)]
    output: OutputArgs,
}

impl Watch {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let shown = Shown {
            has_table: !self.output.quiet,
            has_histogram: false,
            has_json_lines: self.json_lines,
            is_stdout_taken: false,
        };
        let until = self.time.map_or("until Ctrl-C".to_owned(), |time| format!("for {time}"));
        if let Some(url) = self.wait.as_deref().filter(|name| name.contains("://")) {
            return self.follow(url, shown, &format!("Watching {url} {until}."));
        }
        if let Some(host) = self.wait.as_deref().filter(|name| name.contains([':', '.']) || *name == "localhost") {
            return Err(Failure::usage(format!(
                "there is no wait '{host}' here; a machine is watched by http://{host}"
            )));
        }
        let name = wait_of(self.wait.as_deref())?;
        let usual = Sampling::of(&name);
        let sampling = Sampling {
            requested: self.request.unwrap_or(usual.requested),
            late_from: self.late.unwrap_or(usual.late_from),
            ..usual
        };
        let words = format!("Watching {name} for {} and for pauses of about {}", sampling.requested, sampling.pause);
        let witness = witness::open(self.by, self.output.quiet)?;
        let run = Run { command: CommandName::Watch, sampling, is_on_each_cpu: false, time: self.time, shown, witness };
        run.run(&self.output, None, &format!("{words} {until}."))
    }

    /// Another machine.
    fn follow(&self, url: &str, shown: Shown, begin: &str) -> Result<Exit, Failure> {
        if !url.strip_prefix("http://").is_some_and(|host| host.starts_with(|first| first != '/')) {
            let tunnel = "use a tunnel, such as ssh -L 9899:localhost:9899";
            return Err(Failure::usage(format!("{url}: only http is spoken; {tunnel}")));
        }
        if self.by.is_some() {
            let there = "`oversleep watch` there names who ran";
            return Err(Failure::usage(format!("--by is about this machine's kernel; {there}")));
        }
        if self.request.is_some() {
            return Err(Failure::usage(
                "the machine that serves chooses the request: `oversleep serve --request` there",
            ));
        }
        let (delivery, shown) = prepared(shown, &self.output, true)?;
        let stop = StopFlag::new();
        let file = watched(&stop, || {
            say(begin, &self.output);
            remote::follow(url, &stop, self.time, self.late, shown)
        })?;
        delivery.deliver(&*file, output::stem(&file))?;
        measuring::ended(&file).map(|_| exit::of_watched(&file))
    }
}

fn say(words: &str, output: &OutputArgs) {
    if !output.quiet {
        message::note(words);
    }
}

/// Where the result goes, and whether standard output is free for what is shown.
fn prepared(shown: Shown, output: &OutputArgs, is_automatic: bool) -> Result<(Delivery, Shown), Failure> {
    // Lines of JSON are what standard output is for.
    let delivery = match shown.has_json_lines {
        true => Delivery::only_named(output, &[])?.without_report().of_measured(),
        false => Delivery::prepare(output, is_automatic, None)?,
    };
    let shown = Shown { is_stdout_taken: delivery.takes_stdout(), ..shown };
    if shown.is_stdout_taken && shown.has_json_lines {
        return Err(Failure::usage("--json-lines and another document both take standard output; name a file for it"));
    }
    Ok((delivery, shown))
}

/// The name of a wait here that has a deadline.
pub(super) fn wait_of(name: Option<&str>) -> Result<String, Failure> {
    let lab = machine::laboratory(&MachineArgs::default())?;
    let known = names::of(&lab, Kind::Wait);
    let simplest = oversleep_native::examples().waits[0];
    let name = name.unwrap_or(simplest);
    match known.contains(&name) {
        true => Ok(name.to_owned()),
        false => {
            Err(Failure::usage(format!("there is no wait '{name}' here; `oversleep waits --list` has their names")))
        }
    }
}

/// A run.
pub(super) struct Run {
    /// Of which command.
    pub command: CommandName,
    /// What is sampled.
    pub sampling: Sampling,
    /// Whether each CPU has a sampler.
    pub is_on_each_cpu: bool,
    /// How long.
    pub time: Option<Nanos>,
    /// What is shown meanwhile.
    pub shown: Shown,
    /// Who says who ran instead.
    pub witness: Option<Witness>,
}

impl Run {
    /// Samples, shows it, and delivers the result; the events before a wait that ends it go to a file that is named.
    pub fn run(self, output: &OutputArgs, events: Option<&Path>, begin: &str) -> Result<Exit, Failure> {
        sampled(self, output, events, begin)
    }
}

fn sampled(run: Run, output: &OutputArgs, events: Option<&Path>, begin: &str) -> Result<Exit, Failure> {
    let Run { command, sampling, is_on_each_cpu, time, shown, mut witness } = run;
    let lab = machine::laboratory(&MachineArgs::default())?;
    let (delivery, shown) = prepared(shown, output, command == CommandName::Watch)?;
    let stop = StopFlag::new();
    let _kept_off = (command == CommandName::Watch).then(|| reserved::keep_off(&lab, output.quiet));
    let cpus: Vec<Option<u32>> = match is_on_each_cpu {
        true => lab.cpus().into_iter().map(Some).collect(),
        false => vec![None],
    };
    let live = |cpu| lab.live(sampling.clone(), cpu, command, output.name.clone(), &stop).map(Arc::new);
    let lives: Vec<Arc<Live>> =
        cpus.into_iter().map(live).collect::<Result<_, _>>().map_err(|error| measuring::explain(&error))?;
    let file = watched(&stop, || {
        say(begin, output);
        lacking(&oversleep_native::here().counters().totals).iter().for_each(|words| say(words, output));
        live::sample(&lives, &stop, time, shown, &mut witness)
    })?;
    for live in &lives {
        if let Some(broken) = live.sampler().broken_by() {
            let cpu = live.cpu().map(|cpu| format!(" on CPU {cpu}")).unwrap_or_default();
            message::note(&format!("stopped at {}{cpu}: {broken}", broken.wait.end));
            if let Some(witness) = &witness {
                let (name, end) = (threads::name(live.cpu()), live.on_clock(broken.wait.end));
                witness.before(&name, end, broken.wait.lateness).iter().for_each(|line| message::note(line));
            }
        }
    }
    if let (Some(path), Some(witness)) = (events, &witness) {
        witness.record(path)?;
        message::note(&format!("The kernel's events up to then: {0}; `oversleep why {0}` shows them.", path.display()));
    }
    delivery.deliver(&*file, output::stem(&file))?;
    measuring::ended(&file).map(|_| match command {
        CommandName::Watch => exit::of_watched(&file),
        _ => exit::of_result(&file),
    })
}
