//! What could be judged, and what the rest takes: which figure, how many waits, hosts or days, and how many there are.

use std::collections::{BTreeMap, BTreeSet};

use oversleep_explain::fleet::{CHANGE, HOURS, ODD, STEAL, UNLIKE};
use oversleep_record::words::{counted, grouped, list};

use super::beside::BESIDE_MIN;
use super::changes::{Changes, Returned};
use super::groups::Steal;
use super::judging::{Judging, MEMBERS_MIN};
use super::model::{Change, Figure, Judged, Part, Unjudged};
use super::profiles::Profile;
use super::{odd, stats};

/// The fewest days for an interval by days.
const DAYS_MIN: usize = 3;
/// The fewest waits for p99: ten lie beyond it.
const WAITS_MIN: u32 = 1_000;

/// Both lists.
pub(super) fn all(
    judging: &Judging<'_>,
    profiles: &[Profile],
    changes: &Changes,
    steal: &Steal,
) -> (Vec<Judged>, Vec<Unjudged>) {
    let mut lists = Lists::default();
    lists.hosts(judging, profiles);
    lists.settings(judging);
    lists.changes(judging, changes);
    lists.steal(judging, steal);
    (lists.judged, lists.unjudged)
}

#[derive(Default)]
struct Lists {
    judged: Vec<Judged>,
    unjudged: Vec<Unjudged>,
}

/// One figure of one wait of a kind of machines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    kind: usize,
    wait: usize,
    figure: Figure,
}

/// What most hosts of a place lack, in the order in which it matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Hosts,
    Waits,
    Beside,
    Days,
    Hours,
}

/// How many hosts have it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Lack {
    have: usize,
    of: usize,
    /// How many waits a result of six hours usually has.
    waits: u64,
}

impl Lists {
    fn judged(&mut self, id: &'static str, about: impl IntoIterator<Item = String>) {
        let about: Vec<String> = about.into_iter().collect();
        if !about.is_empty() {
            self.judged.push(Judged { id, about });
        }
    }

    fn unjudged(&mut self, ids: &[&'static str], about: impl Into<String>, needs: String) {
        self.unjudged.push(Unjudged { ids: ids.to_vec(), about: about.into(), needs });
    }

    /// Hosts beside their group, and at certain hours.
    fn hosts(&mut self, judging: &Judging<'_>, profiles: &[Profile]) {
        let mut members: BTreeMap<Place, Vec<&Profile>> = BTreeMap::new();
        for profile in profiles {
            let kind = judging.all.hosts[profile.host].kind as usize;
            members.entry(Place { kind, wait: profile.wait, figure: profile.figure }).or_default().push(profile);
        }
        let hosts = |kind: usize| judging.members(kind).count();
        let most = (0..judging.all.kinds.len()).map(hosts).max().unwrap_or_default();
        if most < MEMBERS_MIN {
            let needs = format!("{MEMBERS_MIN} hosts of a kind, and the largest kind has {}", grouped(most));
            return self.unjudged(&[UNLIKE.id, HOURS.id], "", needs);
        }
        // What each place lacks, by the findings and the reason.
        let mut lacks: BTreeMap<Stage, Vec<(Place, Lack)>> = BTreeMap::new();
        let (mut places, mut judged) = (BTreeSet::new(), [BTreeSet::new(), BTreeSet::new()]);
        for kind in (0..judging.all.kinds.len()).filter(|kind| hosts(*kind) >= MEMBERS_MIN) {
            for wait in 0..judging.all.waits.all.len() {
                let with = judging.members(kind).filter(|host| judging.cells(*host, wait).next().is_some()).count();
                for figure in Figure::ALL.into_iter().filter(|_| with > 0) {
                    let place = Place { kind, wait, figure };
                    places.insert(place);
                    let members = members.get(&place).map_or(&[][..], Vec::as_slice);
                    let by_days = members.iter().filter(|profile| profile.ratio().is_some()).count();
                    let by_hours = by_hours(members);
                    let lack = lack(judging, place, [members.len(), by_days, by_hours]);
                    let is_known = [lack.is_none_or(|(stage, _)| stage == Stage::Hours), lack.is_none()];
                    (0..2).filter(|at| is_known[*at]).for_each(|at| _ = judged[at].insert(figure));
                    lack.into_iter().for_each(|(stage, lack)| lacks.entry(stage).or_default().push((place, lack)));
                }
            }
        }
        let [unlike, hours] = judged.map(|figures| figures.into_iter().map(|figure| figure.to_string()));
        self.judged(UNLIKE.id, unlike);
        self.judged(HOURS.id, hours);
        for (stage, lacking) in lacks {
            let ids: &[&str] = if stage == Stage::Hours { &[HOURS.id] } else { &[UNLIKE.id, HOURS.id] };
            let places_of: Vec<Place> = lacking.iter().map(|(place, _)| *place).collect();
            self.unjudged(ids, about(judging, &places, &places_of), needs(stage, &lacking));
        }
    }

    /// Facts that a few hosts have unlike the others.
    fn settings(&mut self, judging: &Judging<'_>) {
        let groups = odd::groups(judging);
        let (mut known, mut few) = (BTreeSet::new(), BTreeMap::new());
        for ((_, _, fact), values) in &groups {
            match odd::hosts(values) {
                hosts if hosts >= MEMBERS_MIN => _ = known.insert((*fact).to_owned()),
                hosts => *few.entry(*fact).or_insert(0) += hosts,
            }
        }
        let mut by_hosts: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        few.iter().for_each(|(fact, hosts)| by_hosts.entry(*hosts).or_default().push(fact));
        if known.is_empty() && few.is_empty() {
            let needs = format!(
                "{MEMBERS_MIN} hosts of a kind and kernel whose clock source, preemption mode, tick rate or governor is \
                 known, and no row has any of them"
            );
            self.unjudged(&[ODD.id], "", needs);
        }
        for (hosts, facts) in by_hosts {
            let needs =
                format!("{MEMBERS_MIN} hosts of a kind under the same kernel, which these don't have beside them");
            self.unjudged(&[ODD.id], format!("{} on {}", list(&facts), counted(hosts, "host")), needs);
        }
        self.judged(ODD.id, known);
    }

    /// Lateness before and after.
    fn changes(&mut self, judging: &Judging<'_>, changes: &Changes) {
        let all = &changes.all;
        for Returned { fact, kind, hosts } in &changes.returned {
            let about = format!(
                "the {fact} on {} ({kind}), which had it, another one and the first again",
                counted(*hosts, "host")
            );
            self.unjudged(&[CHANGE.id], about, "a change that lasts".to_owned());
        }
        if all.is_empty() && !changes.returned.is_empty() {
            return;
        }
        if all.is_empty() {
            let has_days = |host: usize| {
                let mut days = judging.cells_of(host).map(|cell| cell.day);
                let first = days.next();
                !judging.all.hosts[host].facts.is_empty() && days.any(|day| Some(day) != first)
            };
            return match (0..judging.all.hosts.len()).any(has_days) {
                true => self.judged(CHANGE.id, ["no host changed a fact".to_owned()]),
                false => self.unjudged(
                    &[CHANGE.id],
                    "",
                    "results of a host from two days or more, with facts such as its kernel, and none has them"
                        .to_owned(),
                ),
            };
        }
        let is_judged = |figure: Figure| {
            let mut rows = all.iter().flat_map(|change| &change.rows).filter(|row| row.figure == figure);
            rows.any(|row| row.ratio.is_some() && row.others.is_some())
        };
        self.judged(CHANGE.id, Figure::ALL.into_iter().filter(|figure| is_judged(*figure)).map(|one| one.to_string()));
        let is_few = |change: &&Change| (change.hosts as usize) < changes.hosts_min_of(change);
        let (few, enough): (Vec<&Change>, Vec<&Change>) = all.iter().partition(is_few);
        if let Some(first) = few.iter().max_by_key(|change| change.hosts) {
            let hosts = counted(first.hosts, "host");
            let Change { fact, from, to, kind, .. } = first;
            let more = (few.len() > 1).then(|| format!(", and {} on no more", counted(few.len() - 1, "other change")));
            let about = format!("the {fact} from {from} to {to} on {hosts} ({kind}){}", more.unwrap_or_default());
            self.unjudged(&[CHANGE.id], about, format!("{} hosts that changed it", changes.hosts_min_of(first)));
        }
        for change in enough {
            let alone = change.rows.iter().filter(|row| row.ratio.is_some() && row.others.is_none());
            if let Some(most) = alone.map(|row| row.other_hosts).max() {
                let Change { fact, from, to, kind, hosts, .. } = change;
                let about = format!("the {fact} from {from} to {to} on {} ({kind})", counted(*hosts, "host"));
                let needs = format!("{} hosts that didn't change it, and {most} didn't", changes.hosts_min_of(change));
                self.unjudged(&[CHANGE.id], about, needs);
            }
            for figure in Figure::ALL {
                let rows = || change.rows.iter().filter(|row| row.figure == figure);
                if rows().any(|row| row.ratio.is_some()) {
                    continue;
                }
                let most = rows().map(|row| row.hosts).max().unwrap_or_default();
                let about = format!("{figure} when the {} changed to {}", change.fact, change.to);
                let waits = match figure {
                    Figure::P50 => String::new(),
                    Figure::P99 => format!(", each from {} waits in six hours", grouped(WAITS_MIN)),
                };
                let hosts_min = changes.hosts_min_of(change);
                let needs = format!("{hosts_min} hosts that have it before and after{waits}, and {most} do");
                self.unjudged(&[CHANGE.id], about, needs);
            }
        }
    }

    /// What the hypervisor takes.
    fn steal(&mut self, judging: &Judging<'_>, steal: &Steal) {
        let is_judged = |known: usize| known >= steal.hosts_min_of(known);
        self.judged(STEAL.id, steal.known().any(is_judged).then(|| "steal".to_owned()));
        // A machine without a hypervisor has none.
        let may = |kind: &usize| !judging.all.kinds[*kind].is_bare();
        let few: Vec<(usize, usize)> =
            steal.known().enumerate().filter(|(kind, known)| may(kind) && !is_judged(*known)).collect();
        let Some((kind, most)) = few.iter().max_by_key(|(_, known)| *known) else { return };
        let needs = format!("{} hosts of a kind whose steal is known", steal.hosts_min_of(*most));
        let about = match few.len() {
            1 => judging.all.kinds[*kind].to_string(),
            kinds => counted(kinds, "kind") + " of machines",
        };
        let has = if few.len() == 1 { "it has" } else { "the largest has" };
        self.unjudged(&[STEAL.id], about, format!("{needs}, and {has} {most}"));
    }
}

/// How many have results in several quarters of the day, on enough days: of the quarter in which most do.
fn by_hours(members: &[&Profile]) -> usize {
    let in_part = |part: &Part| {
        let days = |profile: &&&Profile| profile.by_part[usize::from(part.0)].len() >= DAYS_MIN;
        members.iter().filter(days).count()
    };
    Part::ALL.iter().map(in_part).max().unwrap_or_default()
}

/// The first that most hosts of a place lack to be compared, of those that are beside their group, have enough days, and
/// enough days with several quarters.
fn lack(judging: &Judging<'_>, place: Place, [beside, by_days, by_hours]: [usize; 3]) -> Option<(Stage, Lack)> {
    let Place { kind, wait, figure } = place;
    let hosts: Vec<usize> = judging.members(kind).filter(|host| judging.cells(*host, wait).next().is_some()).collect();
    let cells = || hosts.iter().flat_map(|host| judging.cells(*host, wait)).map(|(_, cell)| cell);
    let has_figure = |host: &&usize| judging.cells(**host, wait).any(|(_, cell)| figure.of(cell).is_some());
    let of = hosts.len();
    let is_few = |have: usize| have < MEMBERS_MIN || have * 2 < of;
    let stages = [
        (Stage::Hosts, of, of < MEMBERS_MIN),
        (Stage::Waits, hosts.iter().filter(has_figure).count(), true),
        (Stage::Beside, beside, true),
        (Stage::Days, by_days, by_days == 0 || by_days * 2 < of),
        (Stage::Hours, by_hours, true),
    ];
    let (stage, have, _) = stages.into_iter().find(|(_, have, may)| *may && is_few(*have))?;
    let waits = stats::median(&cells().map(|cell| f64::from(cell.waits)).collect::<Vec<f64>>()).unwrap_or_default();
    Some((stage, Lack { have, of, waits: waits as u64 }))
}

/// What places take that lack the same, with the most that any of them has.
fn needs(stage: Stage, lacking: &[(Place, Lack)]) -> String {
    let Some(Lack { have, of, waits }) = lacking.iter().map(|(_, lack)| *lack).max() else { return String::new() };
    let differ = lacking.iter().any(|(_, lack)| *lack != Lack { have, of, waits });
    let has = match have {
        0 => format!("none of {} has", counted(of, "host")),
        _ => format!("{}{} of {} have", if differ { "at most " } else { "" }, grouped(have), counted(of, "host")),
    };
    match stage {
        Stage::Hosts => format!("{MEMBERS_MIN} hosts of a kind with the same wait, and {} have it", grouped(have)),
        Stage::Waits => format!(
            "{} waits of a host in six hours, which {has} (usual are {}): let `oversleep serve` run there, or wait more often",
            grouped(WAITS_MIN),
            grouped(waits)
        ),
        Stage::Beside => format!(
            "results of {BESIDE_MIN} hosts under the same kernel in the same six hours, or on the same day at hours at \
             which {BESIDE_MIN} hosts have results, which {has}: let `oversleep serve` run there, or measure all of them \
             at the same hour"
        ),
        Stage::Days => format!("results of {DAYS_MIN} days of a host beside its group, which {has}"),
        Stage::Hours => format!(
            "results of a host in two quarters of the day or more, on {DAYS_MIN} days, which {has}: let `oversleep serve` run \
             there"
        ),
    }
}

/// `p99`, `p50 and p99 of nanosleep(1 ms) and 3 more waits`: what is lacking in some of all places.
fn about(judging: &Judging<'_>, all: &BTreeSet<Place>, lacking: &[Place]) -> String {
    let figures: BTreeSet<Figure> = lacking.iter().map(|place| place.figure).collect();
    let named: Vec<String> = figures.iter().map(Figure::to_string).collect();
    let of_figures = all.iter().filter(|place| figures.contains(&place.figure)).count();
    if of_figures == lacking.len() {
        return list(&named);
    }
    let waits: BTreeSet<usize> = lacking.iter().map(|place| place.wait).collect();
    let kinds: BTreeSet<usize> = lacking.iter().map(|place| place.kind).collect();
    let wait = &judging.all.waits.all[lacking[0].wait];
    let more = (waits.len() > 1).then(|| format!(" and {}", counted(waits.len() - 1, "more wait")));
    let on = match kinds.len() {
        1 => format!("({})", judging.all.kinds[lacking[0].kind]),
        kinds => format!("on {kinds} kinds of machines"),
    };
    format!("{} of {wait}{} {on}", list(&named), more.unwrap_or_default())
}
