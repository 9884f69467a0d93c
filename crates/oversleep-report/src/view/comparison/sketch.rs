//! What a comparison shows of a result beyond its figures. A sketch is made while the result is in memory and is much
//! smaller, so that many results can be compared.

use oversleep_record::conditions::HeldSettings;
use oversleep_record::series::Quantity;
use oversleep_record::{Distribution, ExperimentId, Nanos, ResultFile};

use super::letter;
use crate::view::pictures::{self, Picture, Wanted};
use crate::view::sections::neighbour_steps::{of_step, steps};
use crate::view::sections::neighbours;
use crate::view::sections::runtimes;

/// One result, sketched.
#[derive(Debug, Default)]
pub struct Sketch {
    /// Its pictures, if they are needed.
    pub(super) pictures: Vec<Picture>,
    /// Its own sleep beside what neighbours hold.
    pub(super) beside: Vec<Beside>,
    /// Conclusions from that, in sentences.
    pub(super) about_neighbours: Vec<String>,
    /// What makes late calls of its runtimes end closer to their time, in sentences.
    pub(super) advice: Vec<String>,
}

/// This process's own sleep while neighbours hold settings (C3, C4).
#[derive(Debug)]
pub(super) struct Beside {
    pub experiment: ExperimentId,
    pub held: HeldSettings,
    pub requested: Nanos,
    pub lateness: Distribution,
    /// The resolution that the system states meanwhile.
    pub stated: Option<Nanos>,
}

impl Beside {
    /// The durations of the sleeps, each with its count, in ns.
    pub fn durations(&self) -> impl Iterator<Item = (f64, u64)> {
        self.lateness.buckets().map(|(late, count)| ((self.requested + Nanos(late)).0 as f64, count))
    }

    /// Their mean.
    pub fn mean(&self) -> Option<Nanos> {
        Some(self.requested + Nanos(self.lateness.mean()?.round() as i64))
    }

    /// The longest.
    pub fn longest(&self) -> Option<Nanos> {
        Some(self.requested + Nanos(self.lateness.max()?))
    }
}

impl Sketch {
    /// The sketch of the result at that place of the comparison, which may have been reduced.
    pub fn of(result: u32, file: &ResultFile) -> Sketch {
        let one = |experiment: ExperimentId, held: HeldSettings| {
            let sleep = of_step(file, experiment, &held, Quantity::Lateness).next()?;
            let stated = of_step(file, experiment, &held, Quantity::StatedResolution).next();
            Some(Beside {
                experiment,
                requested: sleep.requested_ns?,
                lateness: sleep.distribution.clone(),
                stated: stated.and_then(|stated| stated.distribution.p50()).map(Nanos),
                held,
            })
        };
        let of = |experiment| steps(file, experiment).into_iter().filter_map(move |held| one(experiment, held));
        let sentences = neighbours::sentences(file).into_iter();
        Sketch {
            pictures: Vec::new(),
            beside: of(ExperimentId::C3).chain(of(ExperimentId::C4)).collect(),
            about_neighbours: sentences.map(|sentence| format!("{}: {sentence}", letter(result))).collect(),
            advice: runtimes::advice(file)
                .into_iter()
                .map(|sentence| format!("{}: {sentence}", letter(result)))
                .collect(),
        }
    }

    /// The pictures of the result at that place, for which it must not have been reduced.
    pub fn pictures(result: u32, file: &ResultFile) -> Vec<Picture> {
        pictures::of_result(file, &letter(result), Wanted::All)
    }

    /// The sketches of results that have not been reduced, with their pictures.
    pub fn of_all(results: &[ResultFile]) -> Vec<Sketch> {
        let one = |(place, file)| Sketch::of(place, file).with_pictures(Sketch::pictures(place, file));
        (0..).zip(results).map(one).collect()
    }

    /// With these pictures.
    #[must_use]
    pub fn with_pictures(self, pictures: Vec<Picture>) -> Sketch {
        Sketch { pictures, ..self }
    }
}
