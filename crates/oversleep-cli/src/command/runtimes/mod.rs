//! `runtimes`: the waits and clocks of every language runtime on this machine.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use oversleep_lab::ask::advise;
use oversleep_lab::{Request, records};
use oversleep_measure::{Plan, Progress, RuntimePlan, Step, StopFlag, experiment};
use oversleep_record::series::{Quantity, Runtime, Series, Status};
use oversleep_record::{CommandName, ExperimentId, Nanos, ResultFile};
use oversleep_runtimes::{Cache, Given, Surroundings, Survey, Wanted, descriptors};
use oversleep_system::runtime_calls::Version;

mod list;

use super::measuring::{self, Files, ended, explain};
use crate::args::{AMOUNT, ConditionArgs, DepthArgs, MachineArgs, OutputArgs, RequestArgs, value};
use crate::command::spec::{MEASURES, examples, exits};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::message;
use crate::output::{self, Delivery, rescue};
use crate::progress::Meter;
use crate::request::{MeasuringArgs, machine, refuse_long_requests};

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep runtimes", "every language runtime found here"),
    ("oversleep runtimes java go --only park", "the waits of two whose names contain park"),
    ("oversleep runtimes --list", "what is found, what is missing, how to install it"),
    ("oversleep runtimes java --published", "parkNanos of 1 ns and 55 µs, as published"),
    ("oversleep runtimes java --on windows-10-2004", "the calls of Java on a modelled machine"),
    ("oversleep runtimes jet --fetch", "a streaming engine, and what its parks cost"),
    ("oversleep runtimes ./my-engine-timer", "a program of yours that speaks the probe protocol"),
];

/// Measure the waits and clocks of language runtimes, beside the system's own
///
/// Finds Java, Go, Node, Python, C, C++, Rust, tokio, Free Pascal, Mono, .NET, Perl and Ruby, runs a small program in
/// each, and shows how late each of their standard waits ends, what the runtime makes of a request, and what its clocks
/// cost. A runtime that is not here is left out with its reason. Probes of compiled languages are compiled once and kept
/// in your cache directory. Hazelcast Jet, a streaming engine, is measured where you name it: jet. With --on, no runtime
/// runs: records say what each makes of a request, and the model makes the call.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", MEASURES))]
pub struct Runtimes {
    /// Runtimes to measure, like java or java-17, or programs that speak the protocol, by path [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Only waits and clocks whose names contain this text; repeat it or separate several with commas
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    only: Vec<String>,

    /// Only experiments that others published, with as many calls as they made
    #[arg(long, conflicts_with_all = ["quick", "thorough"])]
    published: bool,

    /// Let Maven and cargo fetch what is missing: Hazelcast Jet, tokio
    #[arg(long)]
    fetch: bool,

    /// List what is found, what is missing and how to install it, and what would be measured
    #[arg(long)]
    list: bool,

    /// Version of the runtimes on a modelled machine, like 17 or 3.11 [default: every version with a record]
    #[arg(long, value_name = "VERSION")]
    version: Option<Version>,

    /// Timer resolution that the program holds on a modelled Windows, like 1ms [default: as found]
    #[arg(long, value_name = "DURATION", value_parser = value::resolution, allow_hyphen_values = true)]
    resolution: Option<Nanos>,

    /// A runtime's program, like java=/opt/jdk/bin/java, instead of looking for it; repeat it for several
    #[arg(long, value_name = "NAME=PATH", value_parser = given, help_heading = AMOUNT)]
    runtime: Vec<Given>,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    depth: DepthArgs,
    #[command(flatten)]
    request: RequestArgs,
    #[command(flatten)]
    output: OutputArgs,
}

fn given(typed: &str) -> Result<Given, String> {
    let (name, program) = typed.split_once('=').ok_or("give a runtime and its program, like java=/opt/jdk/bin/java")?;
    let known: Vec<&str> = descriptors().iter().map(|one| one.name.as_str()).collect();
    if !known.contains(&name) {
        return Err(format!("there is no runtime '{name}'; choose from {}", known.join(", ")));
    }
    Ok(Given { name: name.to_owned(), program: PathBuf::from(program) })
}

/// Whether this is the name of a runtime, or of one of its versions.
fn is_name(typed: &str) -> bool {
    let typed = typed.to_ascii_lowercase();
    let is_version = |name: &str| typed.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    descriptors().iter().any(|one| typed == one.name || (is_version(&one.name) && !typed.contains('.')))
}

impl Runtimes {
    /// Runs it.
    pub fn run(self) -> Result<Exit, Failure> {
        if self.machine.on.is_some() || self.machine.like.is_some() {
            return self.modelled();
        }
        let command = if self.list { "runtimes --list" } else { "runtimes" };
        if self.version.is_some() {
            return Err(Failure::usage("--version is about runtimes on a modelled machine; name one with --on"));
        }
        if self.resolution.is_some() {
            return Err(Failure::usage("--resolution is about a modelled Windows; name one with --on"));
        }
        measuring::refuse_names_as_file(command, &self.output, is_name)?;
        let lab = machine::laboratory(&self.machine)?;
        refuse_long_requests(&lab, &self.request.request)?;
        let surroundings = Surroundings::here(&lab.platform_id().os);
        let wanted = Wanted {
            names: self.names,
            only: self.only,
            given: self.runtime,
            published: self.published,
            all: self.list,
            limits: Default::default(),
        };
        let usage = |error: oversleep_runtimes::WantedError| Failure::usage(error.to_string());
        let mut survey = wanted.survey(&surroundings).map_err(usage)?;
        if self.list {
            return list::list(&wanted, survey, &lab, &self.output);
        }
        let mut delivery = Delivery::prepare(&self.output, false, None)?;
        let plan = Plan { depth: self.depth.depth(), requests: self.request.request, ..Plan::default() };
        let platform = oversleep_native::here();
        let stop = StopFlag::new();
        let mut meter = Meter::new(!self.output.quiet, true);
        let mut cache = Cache::open(&surroundings);
        if self.fetch {
            cache.let_fetch();
            survey.fetch(&surroundings, &mut |name| {
                before(&mut meter, Nanos::from_secs(10), &format!("fetching the library of {name}"));
            });
        }
        let needs_programs = wanted.names_programs();
        let probes = wanted
            .probes(&mut survey, &cache, &surroundings, &*platform, &plan, &mut |name| {
                before(&mut meter, Nanos::from_secs(1), &format!("preparing {name}"));
            })
            .map_err(usage)?;
        survey.missing.iter().for_each(|one| message::note(&format!("not measured: {}: {}", one.name, one.reason)));
        let request = Request {
            command: CommandName::Runtimes,
            experiments: Vec::new(),
            plan,
            name: self.output.name.clone(),
            try_remedies: false,
        };
        let signals = interrupt::raise_on_signal(&stop);
        let result = lab.run_with(&request, probes, &stop, &mut meter);
        let measured = result.map(|mut file| {
            survey.note_in(&mut file.environment);
            let file = Arc::new(file);
            rescue::hold(&file, output::stem(&file));
            file
        });
        drop(signals);
        drop(cache);
        meter.clear();
        let file = measured.map_err(|error| explain(&error))?;
        warn_of_failures(&file);
        let ended = match ended(&file) {
            Ok(exit) if needs_programs && exit != Exit::Interrupted && !has_runtimes(&file) => {
                Err(Failure::failed(nothing_measured(&file, &survey)))
            }
            ended => ended,
        };
        if ended.is_err() {
            delivery.only_what_was_named();
        }
        delivery.deliver(&*file, output::stem(&file))?;
        ended
    }
}

impl Runtimes {
    /// On a modelled machine no runtime is run: records state how each translates a request.
    fn modelled(mut self) -> Result<Exit, Failure> {
        let of_real_ones = [("--list", self.list), ("--fetch", self.fetch), ("--runtime", !self.runtime.is_empty())];
        if let Some((option, _)) = of_real_ones.iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::usage(format!("{option} is about runtimes of this machine; leave it out on a model")));
        }
        let lab = machine::laboratory(&self.machine.each()[0])?;
        let known = records::families(&lab.platform_id().os);
        self.versions_from_names(&known)?;
        if let Some(name) = self.names.iter().find(|name| !known.contains(&name.to_ascii_lowercase().as_str())) {
            let on = self.machine.on.as_deref().unwrap_or("MACHINE");
            if let Some(wait) = lab.runtime_call(name).ok().flatten().or_else(|| lab.wait_called(name)) {
                return Err(Failure::usage(format!(
                    "'{name}' names a wait, and this command takes runtimes; `oversleep waits {wait} --on {on}` measures it"
                )));
            }
            return Err(Failure::usage(format!(
                "no record says what '{name}' makes of a request on such a machine; choose from {}",
                known.join(", ")
            )));
        }
        if let Some(why) = lab.runs_none(&self.names, self.version.as_ref()) {
            return Err(Failure::usage(why));
        }
        let ids = match self.published {
            true => &[ExperimentId::B10, ExperimentId::B11, ExperimentId::R4][..],
            false => &[ExperimentId::R1, ExperimentId::R2, ExperimentId::B10, ExperimentId::B11, ExperimentId::R4],
        };
        let conditions = ConditionArgs { resolution: self.resolution, ..ConditionArgs::default() };
        let args = MeasuringArgs::new(CommandName::Runtimes, self.depth, conditions, self.machine);
        let args = MeasuringArgs {
            experiments: ids.iter().filter_map(|&id| experiment(id)).collect(),
            plan: Plan {
                requests: self.request.request,
                subjects: self.names,
                runtimes: RuntimePlan { version: self.version, only: self.only },
                ..args.plan
            },
            ..args
        };
        // What helps is of the version that is meant.
        measuring::run_and(args, &self.output, Files::AsAsked, |lab, request, _, file| {
            advise(&lab.clone().of_version(request.plan.runtimes.version.clone()), file);
        })
    }

    /// A name with a version, like `java-17`, is that runtime with --version 17.
    fn versions_from_names(&mut self, known: &[&str]) -> Result<(), Failure> {
        let is_known = |name: &str| known.contains(&name.to_ascii_lowercase().as_str());
        for at in 0..self.names.len() {
            let name = self.names[at].clone();
            let Some((family, version)) = name.rsplit_once('-').filter(|(family, _)| is_known(family)) else {
                continue;
            };
            let Ok(version) = version.parse::<Version>() else { continue };
            if self.names.len() > 1 {
                return Err(Failure::usage(format!(
                    "'{name}' states a version, and on a modelled machine one version is meant of all runtimes that are \
                     named; name {family} alone"
                )));
            }
            if let Some(other) = self.version.as_ref().filter(|other| **other != version) {
                return Err(Failure::usage(format!(
                    "'{name}' and --version {other} state two versions; leave one out"
                )));
            }
            (self.names[at], self.version) = (family.to_owned(), Some(version));
        }
        Ok(())
    }
}

/// Shows something that takes about that long before the run.
fn before(meter: &mut Meter, total: Nanos, label: &str) {
    meter.next(&Step { done: Nanos::ZERO, total, label, figures: None });
}

fn has_runtimes(file: &ResultFile) -> bool {
    file.series.iter().any(|series| series.runtime.is_some() && series.has_values())
}

/// Why no program that was named could be measured.
fn nothing_measured(file: &ResultFile, survey: &Survey) -> String {
    let missing = survey.missing.iter().map(|one| format!("{}: {}", one.name, one.reason)).next();
    let failed = || {
        file.series.iter().find_map(|series| match (&series.runtime, &series.status) {
            (Some(runtime), Status::Unavailable { reason }) => Some(format!("{runtime}: {}: {reason}", series.subject)),
            _ => None,
        })
    };
    match missing.or_else(failed) {
        Some(reason) => format!("nothing could be measured; {reason}"),
        None => "nothing could be measured: --only leaves no wait or clock. `oversleep runtimes --list` shows them"
            .to_owned(),
    }
}

/// How many operations a warning names at most.
const NAMED_MAX: usize = 3;

/// Warns once for each reason why operations of a runtime could not be measured. An operation that a version of a runtime
/// doesn't have is no failure, and what the clock of a program shows is missing with its waits.
fn warn_of_failures(file: &ResultFile) {
    let mut all: Vec<(&Runtime, String, Vec<&str>)> = Vec::new();
    for series in &file.series {
        let (Status::Unavailable { reason }, Some(runtime)) = (&series.status, &series.runtime) else { continue };
        if !matches!(reason, oversleep_record::Unavailable::Failed { call, .. } if call == "the probe") {
            continue;
        }
        let (reason, subject) = (reason.to_string(), series.subject.as_str());
        match all.iter_mut().find(|one| one.0 == runtime && one.1 == reason) {
            None => all.push((runtime, reason, vec![subject])),
            Some((.., subjects)) if !subjects.contains(&subject) && !is_of_its_clock(series) => subjects.push(subject),
            Some(_) => {}
        }
    }
    for (runtime, reason, subjects) in all {
        let more = subjects.len().saturating_sub(NAMED_MAX);
        let named = subjects[..subjects.len() - more].join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        message::warning(&format!("{runtime}: {named}{more} could not be measured: {reason}"));
    }
}

/// Whether a series is about the clock that a program times its waits with.
fn is_of_its_clock(series: &Series) -> bool {
    series.experiment == ExperimentId::R3 && series.quantity != Quantity::Cost
}
