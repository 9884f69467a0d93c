//! The entries of the registries, and the conclusions of checks. Types only: no entry, and no reading of results.

use oversleep_record::finding::{Evidence, More, Severity, Verdict};
use oversleep_record::part::Part;
use oversleep_record::{Conditions, ExperimentId, FactName, Nanos, Os, ResultFile, Series, SeriesKey};

/// The result of a check: `Ok` once it has compared what it wanted to compare, `Err` if the result has insufficient data.
pub type Checked<T = Conclusion> = Result<T, Conclusion>;

/// Which results a finding is checked in, or a remedy advised in.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    /// Every operating system.
    Anywhere,
    /// Results taken on this one or on a model of it.
    Os(Os),
    /// Results of this system for which a condition holds.
    OsWhere(Os, fn(&ResultFile) -> bool),
    /// Results of any system for which a condition holds.
    Where(fn(&ResultFile) -> bool),
    /// Results of every other system than this one.
    Except(Os),
    /// Results of Windows that were taken under Wine.
    Wine,
    /// Results about observed programs, of any system. No other finding is checked in these.
    Observed,
    /// Archives of many machines, which `archive report` judges. No result is of one.
    Fleet,
}

impl Scope {
    /// Whether the result was taken on a system of this scope, regardless of its other conditions.
    pub fn includes_os_of(self, file: &ResultFile) -> bool {
        match self {
            Scope::Anywhere | Scope::Where(_) | Scope::Observed => true,
            Scope::Os(os) | Scope::OsWhere(os, _) => file.platform.is(os),
            Scope::Except(os) => !file.platform.is(os),
            Scope::Wine => file.platform.is(Os::Windows),
            Scope::Fleet => false,
        }
    }

    /// Whether it covers a result.
    pub fn covers(self, file: &ResultFile) -> bool {
        let holds = match self {
            Scope::OsWhere(_, condition) | Scope::Where(condition) => condition(file),
            Scope::Wine => file.environment.text(FactName::OsWineVersion).is_some(),
            Scope::Observed => file.observation.is_some(),
            Scope::Anywhere | Scope::Os(_) | Scope::Except(_) | Scope::Fleet => true,
        };
        self.includes_os_of(file) && holds
    }
}

/// The conclusion of a check, with the figures behind it.
#[derive(Clone, Debug)]
pub struct Conclusion {
    /// Whether the finding is present here.
    pub verdict: Verdict,
    /// This instance with its figures: a headline of about 60 characters, a colon, the rest. For an inconclusive check
    /// the reason, ending with the next step.
    pub sentence: String,
    /// What it holds for, too.
    pub more: Box<[More]>,
    /// The figures behind it.
    pub evidence: Vec<Evidence>,
    /// Series among these whose median hides two peaks, each in words.
    pub two_peaks: Vec<String>,
    /// How much it matters here, if that differs from the entry's rule.
    pub severity: Option<Severity>,
    /// The remedies that fit this instance, if not all of the entry's do.
    pub remedies: Option<&'static [&'static RemedyEntry]>,
    /// What only one of several instances has. Few have it, so the rest stays small.
    pub instance: Option<Box<Instance>>,
}

/// One of several instances of an entry.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Its name: the cause or the culprit.
    pub name: String,
    /// How much lateness it explains, over all waits.
    pub explained: Nanos,
    /// What to do in this instance, where it can be said more exactly than for all.
    pub in_words: Vec<InWords>,
    /// The part of the lateness that it explains, if it is the cause of one.
    pub part: Option<Part>,
    /// The series of the waits that it delayed, the one that it delayed most first.
    pub delayed: Vec<SeriesKey>,
}

/// What a remedy means in one instance.
#[derive(Clone, Debug)]
pub struct InWords {
    /// The remedy's id.
    pub remedy: &'static str,
    /// What to do, with the names and numbers of this instance.
    pub sentence: String,
    /// The command that does it.
    pub example: Option<String>,
}

impl Conclusion {
    fn of(verdict: Verdict, sentence: impl Into<String>) -> Conclusion {
        let sentence = sentence.into();
        Conclusion {
            verdict,
            sentence,
            more: Box::default(),
            evidence: Vec::new(),
            two_peaks: Vec::new(),
            severity: None,
            remedies: None,
            instance: None,
        }
    }

    /// The finding is present.
    pub fn found(sentence: impl Into<String>) -> Conclusion {
        Conclusion::of(Verdict::Found, sentence)
    }

    /// It was checked and is absent.
    pub fn absent(sentence: impl Into<String>) -> Conclusion {
        Conclusion::of(Verdict::NotFound, sentence)
    }

    /// Found or absent, depending on the comparison.
    pub fn found_if(found: bool, sentence: impl Into<String>) -> Conclusion {
        Conclusion::of(if found { Verdict::Found } else { Verdict::NotFound }, sentence)
    }

    /// Inconclusive: the result lacks what the check needs.
    pub fn lacks(reason: impl Into<String>) -> Conclusion {
        Conclusion::of(Verdict::NotEnoughData, reason)
    }

    /// Inconclusive: the figures contradict each other.
    pub fn disturbed(reason: impl Into<String>) -> Conclusion {
        Conclusion::of(Verdict::TooDisturbed, reason)
    }

    /// Adds a figure as evidence.
    pub fn rests_on(mut self, source: impl Into<String>, says: impl Into<String>) -> Conclusion {
        self.evidence.push(Evidence { source: source.into(), text: says.into() });
        self
    }

    /// Adds a figure before all other evidence: what the instance is named after.
    pub fn rests_first_on(mut self, source: impl Into<String>, says: impl Into<String>) -> Conclusion {
        self.evidence.insert(0, Evidence { source: source.into(), text: says.into() });
        self
    }

    /// Adds a fact of the machine as evidence, if it is known.
    pub fn rests_on_fact(self, name: impl Into<String>, value: Option<impl ToString>) -> Conclusion {
        match value {
            Some(value) => self.rests_on(name, value.to_string()),
            None => self,
        }
    }

    /// Adds these series as evidence.
    pub fn rests_on_series<'a>(self, series: impl IntoIterator<Item = &'a Series>) -> Conclusion {
        series.into_iter().fold(self, |mut all, one| {
            all.two_peaks.extend(crate::figures::hidden_peaks(one));
            all.rests_on(&one.key, crate::figures::summary(one))
        })
    }

    /// The sentence, with the peaks that a median in it hides.
    pub fn whole_sentence(&self) -> String {
        /// The most series whose peaks are listed.
        const TOLD_MAX: usize = 2;
        let mut told: Vec<&str> = Vec::new();
        for peaks in &self.two_peaks {
            if told.len() < TOLD_MAX && !told.contains(&peaks.as_str()) {
                told.push(peaks);
            }
        }
        match told.is_empty() || matches!(self.verdict, Verdict::NotEnoughData | Verdict::TooDisturbed) {
            true => self.sentence.clone(),
            false => format!("{} (two peaks, {})", self.sentence, told.join("; ")),
        }
    }

    /// Appends a clause to the sentence.
    pub fn and(mut self, clause: impl AsRef<str>) -> Conclusion {
        self.sentence.push_str(clause.as_ref());
        self
    }

    /// Adds what it holds for, too.
    pub fn and_more(mut self, more: Vec<More>) -> Conclusion {
        self.more = more.into();
        self
    }

    /// Sets remedies for this instance.
    pub fn cured_by(mut self, remedies: &'static [&'static RemedyEntry]) -> Conclusion {
        self.remedies = Some(remedies);
        self
    }

    /// Says what a remedy means in this instance, with a command if there is one.
    pub fn advising(
        mut self,
        remedy: &'static RemedyEntry,
        sentence: impl Into<String>,
        command: Option<String>,
    ) -> Self {
        self.instance.get_or_insert_default().in_words.push(InWords {
            remedy: remedy.id,
            sentence: sentence.into(),
            example: command,
        });
        self
    }

    /// Names the instance, and how much lateness it explains.
    pub fn of_instance(mut self, instance: impl Into<String>, explained: Nanos) -> Conclusion {
        let own = self.instance.get_or_insert_default();
        (own.name, own.explained) = (instance.into(), explained);
        self
    }

    /// Says which part of the lateness of which waits the instance explains.
    pub fn delaying(mut self, part: Part, series: impl IntoIterator<Item = SeriesKey>) -> Conclusion {
        let own = self.instance.get_or_insert_default();
        (own.part, own.delayed) = (Some(part), series.into_iter().collect());
        self
    }

    /// Sets the severity of this instance.
    pub fn matters(mut self, severity: Severity) -> Conclusion {
        self.severity = Some(severity);
        self
    }
}

/// One remedy.
#[derive(Debug)]
pub struct RemedyEntry {
    /// Stable id: `lower-timer-slack`.
    pub id: &'static str,
    /// Results it is advised in.
    pub scope: Scope,
    /// Its gain, in general.
    pub summary: &'static str,
    /// What to do, in a sentence or two.
    pub how: &'static str,
    /// Code or commands that do it.
    pub example: Option<&'static str>,
    /// Whether and how it is measured.
    pub trial: Trial,
}

/// Whether and how a remedy is measured.
#[derive(Clone, Copy, Debug)]
pub enum Trial {
    /// `check` tries it after the first pass: its conditions concern oversleep's own threads and are undone afterwards.
    Here {
        /// The conditions that the remedy consists of.
        conditions: fn() -> Conditions,
        /// Kinds of waits to try it on: of each kind the first that was measured, by registry name.
        waits: &'static [&'static [&'static str]],
        /// Whether this result gives a reason to try it. A remedy that the system may refuse is tried nevertheless,
        /// since a refusal is informative, too.
        is_worth_it: fn(&ResultFile) -> bool,
    },
    /// An experiment measures it anyway, as one of these waits.
    ByExperiment {
        /// The experiment's id.
        experiment: ExperimentId,
        /// Registry names of the waits it needs there.
        waits: &'static [&'static str],
        /// The series without the remedy and with it.
        compare: fn(&ResultFile) -> Option<(&Series, &Series)>,
    },
    /// It is never tried, for this reason.
    Never(&'static str),
}

impl Trial {
    /// [`Trial::ByExperiment`] of the one that measures every wait.
    pub(crate) const fn beside(
        waits: &'static [&'static str],
        compare: fn(&ResultFile) -> Option<(&Series, &Series)>,
    ) -> Trial {
        Trial::ByExperiment { experiment: ExperimentId::B5, waits, compare }
    }
}
