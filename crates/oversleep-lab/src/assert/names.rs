//! One name for what the runs of a gate have in common.
//!
//! A wait is known by its program, thread, call and request. Requests are not the same in each run: a deadline is a bit
//! nearer where the thread was delayed on its way into the call, and a loop with a fixed period requests what its work has
//! left of it. That is exactly what changes with slower work or longer waits, so it can't tell two builds' loops apart.

use std::collections::BTreeMap;

use oversleep_record::observed::wait::Request;
use oversleep_record::part::Part;
use oversleep_record::{Identity, Nanos, ResultFile, Series, label};

/// The requests of a gate's runs.
#[derive(Debug, Default)]
pub struct Requests {
    /// Those of each kind of waits, as first seen.
    seen: Vec<(Identity, Nanos)>,
    /// The kinds of waits whose requests are computed, and what stands for these.
    computed: BTreeMap<Identity, Nanos>,
}

impl Requests {
    /// The first request of such a wait that this one is within a tenth of: Java's `Thread.sleep(10)` computes a deadline,
    /// which is 10 ms ahead in one call and 9.9 ms in another.
    fn usual(&mut self, kind: &Identity, request: Nanos) -> Nanos {
        let is_near = |known: Nanos| known.0.abs_diff(request.0).saturating_mul(10) <= known.0.unsigned_abs();
        if let Some((_, known)) = self.seen.iter().find(|(identity, known)| identity == kind && is_near(*known)) {
            return *known;
        }
        self.seen.push((kind.clone(), request));
        request
    }

    /// What stands for the requests that this run computes, if it does.
    fn stands_for(&mut self, kind: &Identity, computed: &Computed) -> Option<Nanos> {
        if let Some(known) = self.computed.get(kind) {
            return Some(*known).filter(|_| computed.is_more_than(1, 2));
        }
        let usual = computed.is_more_than(3, 4).then(|| self.usual(kind, computed.longest))?;
        self.computed.insert(kind.clone(), usual);
        Some(usual)
    }
}

/// Gives what two runs have in common one name: two builds of a program may be files of different names, which their main
/// threads have, too, and are both called `program`; and requests that differ by little, or are computed, are one.
pub fn names_of(file: &mut ResultFile, requests: &mut Requests) {
    let main = file.observation.as_ref().and_then(|observation| observation.processes.first());
    let main = main.map(|process| process.name.clone());
    let mut kinds: BTreeMap<Identity, Vec<&mut Series>> = BTreeMap::new();
    for series in file.series.iter_mut().filter(|series| series.observed.is_some()) {
        for label in [label::PROGRAM, label::THREAD] {
            if main.is_some() && series.labels.get(label) == main {
                series.labels.set(label, "program".to_owned());
            }
        }
        if let Some(identity) = Identity::of(series).filter(|identity| identity.requested_ns.is_some()) {
            kinds.entry(Identity { requested_ns: None, ..identity }).or_default().push(series);
        }
    }
    for (kind, mut all) in kinds {
        let computed = Computed::among(&mut all, kind.request);
        let stands_for = computed.as_ref().and_then(|computed| requests.stands_for(&kind, computed));
        for (at, series) in all.into_iter().enumerate() {
            let is_computed = computed.as_ref().is_some_and(|computed| computed.places.contains(&at));
            series.requested_ns = match stands_for.filter(|_| is_computed) {
                Some(known) => Some(known),
                None => series.requested_ns.map(|request| requests.usual(&kind, request)),
            };
        }
    }
}

/// The waits of one kind whose requests vary and follow one another closely.
struct Computed {
    /// Where they are.
    places: std::ops::Range<usize>,
    longest: Nanos,
    /// How many there are, and how many waits that kind has.
    count: u64,
    of: u64,
}

impl Computed {
    /// Sorts the series of a kind by their requests. Those that have most of its waits, if their requests are computed.
    fn among(all: &mut [&mut Series], request: Request) -> Option<Computed> {
        if !matches!(request, Request::Span | Request::Deadline) {
            return None;
        }
        all.sort_by_key(|series| range(series));
        let of = all.iter().map(|series| series.distribution.count()).sum();
        let mut found: Vec<(Computed, u64)> = Vec::new();
        for (at, series) in all.iter().enumerate() {
            let ([shortest, longest], count) = (range(series), series.distribution.count());
            let varying = if varies(series, request) { count } else { 0 };
            match found.last_mut().filter(|(last, _)| is_near(last.longest, shortest)) {
                Some((last, varied)) => {
                    last.places.end = at + 1;
                    (last.longest, last.count) = (last.longest.max(longest), last.count.saturating_add(count));
                    *varied = varied.saturating_add(varying);
                }
                None => found.push((Computed { places: at..at + 1, longest, count, of }, varying)),
            }
        }
        let (most, varied) = found.into_iter().max_by_key(|(computed, _)| computed.count)?;
        (varied.saturating_mul(2) > most.count).then_some(most)
    }

    fn is_more_than(&self, part: u64, of: u64) -> bool {
        self.count.saturating_mul(of) > self.of.saturating_mul(part)
    }
}

/// Whether the next longer request of a loop may be this one: its work varies.
fn is_near(longest: Nanos, next: Nanos) -> bool {
    next <= longest || next.0.abs_diff(longest.0).saturating_mul(4) <= next.0.unsigned_abs()
}

/// The shortest and the longest request of a series.
fn range(series: &Series) -> [Nanos; 2] {
    let stated = series.observed.as_ref().and_then(|observed| observed.requested_ns);
    stated.unwrap_or([series.requested_ns.unwrap_or(Nanos::ZERO); 2])
}

/// Whether its requests vary. Deadlines lie ahead by what is left of the time to them.
fn varies(series: &Series, request: Request) -> bool {
    let observed = series.observed.as_ref();
    let requested = observed.and_then(|observed| observed.periods.as_ref()?.split.parts.get(&Part::Requested));
    request == Request::Deadline
        || observed.is_some_and(|observed| observed.requested_ns.is_some())
        || requested.is_some_and(|requested| requested.min() != requested.max())
}

#[cfg(test)]
mod tests {
    use oversleep_record::Distribution;
    use oversleep_record::environment::Os;
    use oversleep_record::observed::period::Periods;
    use oversleep_record::testing::Sheet;

    use super::*;

    /// So many waits of a main thread for requests between these, in µs.
    fn waits(request: Request, count: u64, from_us: i64, to_us: i64) -> Series {
        let [from, to] = [from_us, to_us].map(|us| Nanos(us * 1_000));
        let name = || "app".to_owned();
        let call = "clock_nanosleep".to_owned();
        let identity =
            Identity { program: name(), thread: name(), call, timer: None, request, requested_ns: Some(from) };
        let mut series = Series::observed(&identity, Os::Linux, Distribution::of_equal(60_000, count));
        let mut periods = Periods::default();
        let mut requested = Distribution::growing();
        [from, to].iter().for_each(|request| requested.record(request.0));
        periods.split.parts.insert(Part::Requested, requested);
        let observed = series.observed.as_mut().expect("it is observed");
        observed.periods = Some(periods);
        observed.requested_ns = Some([from, to]).filter(|_| to_us - from_us > from_us / 50);
        series
    }

    /// What the waits of a run are known by.
    fn known(requests: &mut Requests, series: &[Series]) -> Vec<(u64, i64)> {
        let mut file = Sheet::linux().file;
        file.series = series.to_vec();
        names_of(&mut file, requests);
        let name = |series: &Series| (series.distribution.count(), series.requested_ns.map_or(0, |ns| ns.0 / 1_000));
        file.series.iter().map(name).collect()
    }

    /// A loop that sleeps for what is left of 5 ms: 1 ms more of work or of lateness leaves 1 ms less.
    #[test]
    fn a_loop_that_requests_what_is_left_of_its_period_is_one_wait_in_each_build() {
        for request in [Request::Span, Request::Deadline] {
            let requests = &mut Requests::default();
            let base =
                [waits(request, 168, 4_358, 4_998), waits(request, 30, 4_179, 4_875), waits(request, 2, 3_540, 3_702)];
            assert_eq!(known(requests, &base), [(168, 4_998), (30, 4_998), (2, 4_998)], "{request:?}");
            let slower =
                [waits(request, 184, 3_500, 3_998), waits(request, 10, 3_260, 3_833), waits(request, 2, 900, 900)];
            assert_eq!(known(requests, &slower), [(184, 4_998), (10, 4_998), (2, 900)], "{request:?}");
            // A quiet run: the requests differ by less than is shown of them.
            assert_eq!(known(requests, &[waits(request, 200, 4_950, 4_960)]), [(200, 4_998)], "{request:?}");
        }
    }

    #[test]
    fn sleeps_for_fixed_spans_are_known_by_them() {
        let requests = &mut Requests::default();
        let fixed = |count, us| waits(Request::Span, count, us, us);
        assert_eq!(known(requests, &[fixed(200, 5_000)]), [(200, 5_000)]);
        assert_eq!(known(requests, &[fixed(200, 4_000)]), [(200, 4_000)], "the program was changed");
        let timer = waits(Request::Timer, 200, 5_000, 5_000);
        assert_eq!(known(requests, &[timer]), [(200, 5_000)]);
    }

    /// Java's sleeps are deadlines, and a thread may have several.
    #[test]
    fn two_sleeps_of_a_thread_stay_two() {
        let requests = &mut Requests::default();
        let of = |count, us: i64| waits(Request::Deadline, count, us * 99 / 100, us);
        let two = [(100, 4_950), (100, 19_800)];
        assert_eq!(known(requests, &[of(100, 5_000), of(100, 20_000)]), two);
        assert_eq!(known(requests, &[of(100, 5_000), of(100, 20_000)]), two);
    }
}
