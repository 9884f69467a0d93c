//! `resolution watch`: reports changes while people use the machine, until Ctrl-C.

use clap::Args;
use oversleep_lab::watch::{Visit, Watched, who_is_unknown};
use oversleep_measure::StopFlag;
use oversleep_record::Nanos;
use oversleep_record::change::Change;
use oversleep_report::view::sections::watch::{in_a_line, since};

use crate::args::{MachineArgs, OutputArgs, value};
use crate::command::live::watching::{self, Lines};
use crate::command::spec::{WATCHES, examples, exits};
use crate::exit::{self, Exit, Failure};
use crate::message;
use crate::output::{self, Delivery};
use crate::request::machine;

/// The number of observations of a model after its script has ended.
const LOOKS_AFTER: i64 = 5;

const EXAMPLES: &[(&str, &str)] = &[
    ("oversleep resolution watch", "until Ctrl-C"),
    ("oversleep resolution watch --for 8h --out r.json --html r.html", ""),
    ("oversleep resolution watch --on windows-11 --neighbour 1ms@2s..5s", ""),
    ("oversleep resolution watch --on windows-7 --neighbour 1ms/8ms@1s..9s", ""),
];

/// Watch the granted resolution, a coarse clock's step and a 1 ms sleep, and print each change as it happens
///
/// This process requests nothing. It looks once a second, until Ctrl-C or for the time you give, and prints one line per
/// change; a sleep or a step that changes with no cause in sight is printed when the next look confirms it, because a busy
/// moment is no change. The figures of the whole time follow, and the page has a picture of them. It takes about a tenth of
/// a CPU on Windows, where it polls a clock for two steps, and less elsewhere. A watch of days takes no more memory than one
/// of an hour.
#[derive(Args, Debug)]
#[command(before_help = examples(EXAMPLES), after_help = exits("", WATCHES))]
pub(super) struct Watch {
    /// How long to watch [default: until Ctrl-C; on a model, until its neighbours have left]
    #[arg(long = "for", id = "for", value_name = "DURATION", value_parser = value::watch_time)]
    time: Option<Nanos>,

    /// From one look to the next
    #[arg(long, value_name = "DURATION", value_parser = value::interval, default_value = "1s")]
    every: Nanos,

    /// A process that holds a setting for a while, like 1ms@2s..5s; repeat it for several
    ///
    /// 1ms/8ms holds 1 ms, and 8 ms while the machine runs on battery, as browsers do.
    #[arg(long, value_name = "SETTING@FROM..UNTIL", value_parser = value::visit, value_delimiter = ',')]
    neighbour: Vec<Visit>,

    /// When a modelled machine runs on battery, like 4s..8s; repeat it for several times
    #[arg(long, value_name = "FROM..UNTIL", value_parser = value::on_battery, value_delimiter = ',')]
    on_battery: Vec<(Nanos, Option<Nanos>)>,

    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl Watch {
    pub(super) fn run(self) -> Result<Exit, Failure> {
        let lab = machine::laboratory(&self.machine)?;
        let name = lab.resolution_tunable().map_or("resolution", |tunable| tunable.name);
        for setting in self.neighbour.iter().flat_map(|visit| std::iter::once(&visit.setting).chain(&visit.on_battery))
        {
            lab.validate(name, setting)
                .map_err(|why| Failure::usage(format!("no neighbour can hold {setting} here: {why}")))?;
        }
        let is_model = lab.platform_id().modelled.is_some();
        if !is_model && !self.on_battery.is_empty() {
            return Err(Failure::usage(
                "--on-battery is for modelled machines; name one with --on, or pull the plug of this one".to_owned(),
            ));
        }
        let mut watched = Watched {
            every: self.every,
            duration: self.time,
            script: self.neighbour.clone(),
            on_battery: self.on_battery.clone(),
            name: self.output.name.clone(),
        };
        if is_model && watched.duration.is_none() {
            watched.duration = Some(watched.script_ends() + Nanos(LOOKS_AFTER * watched.every.0));
        }
        let delivery = Delivery::prepare(&self.output, false, self.machine.like.as_ref())?;
        let is_taken = delivery.takes_stdout();
        let stop = StopFlag::new();
        let (mut lines, mut failed) = (Lines::new(is_taken), None);
        let mut report = |change: &Change| {
            let line = format!("{:>10}  {}", since(change.at_ns), in_a_line(change).trim_end());
            if let Err(failure) = lines.line(&line) {
                failed.get_or_insert(failure);
            }
            // A watch without an end would go on for nobody.
            if failed.is_some() || (lines.is_reader_gone() && watched.duration.is_none()) {
                stop.raise();
            }
        };
        let file = watching::watched(&stop, || {
            self.begin(&lab, &watched);
            lab.watch(&watched, &stop, &mut report).map_err(|error| Failure::failed(error.to_string()))
        })?;
        if !is_taken && failed.is_none() {
            lines.line("")?;
        }
        delivery.deliver(&*file, output::stem(&file))?;
        match failed {
            Some(failure) => Err(failure),
            None => Ok(exit::of_result(&file)),
        }
    }

    /// Prints the subjects of the watch, and what the system doesn't reveal.
    fn begin(&self, lab: &oversleep_lab::Laboratory, watched: &Watched) {
        if self.output.quiet {
            return;
        }
        let id = lab.platform_id();
        let machine = id.modelled.as_deref().map_or("this machine".to_owned(), |model| format!("a model of {model}"));
        let end = match watched.duration {
            Some(duration) => format!("for {duration}"),
            None => "until Ctrl-C".to_owned(),
        };
        message::note(&format!("Watching {machine} every {} {end}.", watched.every));
        if let Some(why) = who_is_unknown(lab).filter(|_| id.modelled.is_none()) {
            message::note(&format!("Who requested what isn't shown: {why}."));
        }
    }
}
