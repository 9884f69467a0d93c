//! The columns of an archive: one table, from which the files, the SQL and the questions derive.

use std::collections::BTreeMap;
use std::fmt;

use crate::row::Row;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number of 32 bits.
    Small,
    /// A whole number of 64 bits.
    Integer,
    /// A fraction.
    Real,
    /// Yes or no.
    Flag,
    /// Microseconds since 1970-01-01 UTC.
    Moment,
    /// Names and their texts.
    Map,
    /// Whole numbers.
    List,
}

/// The value of a column in one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// It isn't known.
    Null,
    /// Text.
    Text(&'a str),
    /// A whole number, a moment too.
    Integer(i64),
    /// A fraction.
    Real(f64),
    /// Yes or no.
    Flag(bool),
    /// Names and their texts.
    Map(&'a BTreeMap<String, String>),
    /// Whole numbers.
    List(&'a [i64]),
}

/// Declares every column once, in the order of the files.
macro_rules! columns {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal $kind:ident $($optional:ident)?;)*) => {
        /// A column of an archive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Column {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Column {
            /// All columns, in the order of the files.
            pub const ALL: &[Column] = &[$(Column::$variant),*];

            /// Its name in files, SQL and questions.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Column::$variant => $name,)*
                }
            }

            /// What it holds.
            pub const fn kind(self) -> Kind {
                match self {
                    $(Column::$variant => Kind::$kind,)*
                }
            }

            /// Whether it may be unknown.
            pub const fn is_optional(self) -> bool {
                match self {
                    $(Column::$variant => columns!(@ $($optional)?),)*
                }
            }

            /// What it means, in a sentence.
            pub const fn doc(self) -> &'static str {
                match self {
                    $(Column::$variant => concat!($($doc),*),)*
                }
            }
        }
    };
    (@ optional) => { true };
    (@) => { false };
}

columns! {
    /// Version of these columns: 1.
    Schema "schema" Small;
    /// The machine, as a random text that is made by the archive and derived from nothing.
    Source "source" Text;
    /// A hash of the result that the row is from. Rows of one result share it.
    Content "content" Integer;
    /// When the run began.
    Taken "taken" Moment;
    /// How long the run took, in seconds.
    Seconds "seconds" Real;
    /// The program that measured, with its version.
    Tool "tool" Text;
    /// The system: linux, windows, macos.
    Os "os" Text;
    /// The system with its version as sold.
    OsVersion "os_version" Text optional;
    /// The kernel's release.
    Kernel "kernel" Text optional;
    /// The processor's name as sold.
    CpuModel "cpu_model" Text optional;
    /// CPUs that are online.
    Cpus "cpus" Small optional;
    /// The hypervisor, or none.
    Hypervisor "hypervisor" Text optional;
    /// The kind of container, or none.
    Container "container" Text optional;
    /// The clock source.
    Clocksource "clocksource" Text optional;
    /// When the kernel lets a woken thread interrupt it.
    Preemption "preemption" Text optional;
    /// Ticks per second.
    Hz "hz" Small optional;
    /// The C library with its version.
    Libc "libc" Text optional;
    /// How the clock rate is chosen.
    Governor "governor" Text optional;
    /// The other facts about the machine that may be shared.
    Facts "facts" Map;
    /// The name that the user gave the result.
    Name "name" Text optional;
    /// The experiment's id.
    Experiment "experiment" Text;
    /// The wait, clock or hand-off.
    Subject "subject" Text;
    /// The language runtime with its version.
    Runtime "runtime" Text optional;
    /// What each value is: lateness, duration, cost …
    Quantity "quantity" Text;
    /// The unit of the values: ns, ps, hz, mw.
    Unit "unit" Text;
    /// What the program requested, in nanoseconds.
    RequestNs "request_ns" Integer optional;
    /// What was requested of the machine: `slack=1ns`. Empty: nothing was changed.
    Conditions "conditions" Text;
    /// What else distinguishes the series.
    Labels "labels" Map;
    /// The number of values: the sum of `n`.
    Count "count" Integer;
    /// Of these, deadlines that had passed before the call.
    Missed "missed" Integer;
    /// Of these, values below zero.
    Early "early" Integer;
    /// The sum of all values of known size.
    Sum "sum" Real;
    /// The smallest value.
    Min "min" Integer optional;
    /// The largest value, if it is known.
    Max "max" Integer optional;
    /// The share of all CPUs' time that the hypervisor gave to others meanwhile.
    StealShare "steal_share" Real optional;
    /// Whether rounds disagreed, or something else took so much CPU time that the median isn't the machine's own.
    Disturbed "disturbed" Flag;
    /// The size that values of unknown size have at least; they count in the bucket 9223372036854775807.
    BeyondFrom "beyond_from" Integer optional;
    /// The largest value of each bucket, ascending.
    Hi "hi" List;
    /// The number of values in each bucket, at least 1.
    N "n" List;
}

/// The version of the columns.
pub const SCHEMA: i32 = 1;

impl Column {
    /// The column of that name.
    pub fn find(name: &str) -> Option<Column> {
        Column::ALL.iter().copied().find(|column| column.name() == name)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Row {
    /// The value of a column.
    pub fn value(&self, column: Column) -> Value<'_> {
        fn text(text: &Option<String>) -> Value<'_> {
            text.as_deref().map_or(Value::Null, Value::Text)
        }
        let integer = |number: Option<i64>| number.map_or(Value::Null, Value::Integer);
        let machine = &self.machine;
        match column {
            Column::Schema => Value::Integer(SCHEMA.into()),
            Column::Source => Value::Text(&self.source),
            Column::Content => Value::Integer(self.content),
            Column::Taken => Value::Integer(self.taken_us),
            Column::Seconds => Value::Real(self.seconds),
            Column::Tool => Value::Text(&self.tool),
            Column::Os => Value::Text(&machine.os),
            Column::OsVersion => text(&machine.os_version),
            Column::Kernel => text(&machine.kernel),
            Column::CpuModel => text(&machine.cpu_model),
            Column::Cpus => integer(machine.cpus.map(i64::from)),
            Column::Hypervisor => text(&machine.hypervisor),
            Column::Container => text(&machine.container),
            Column::Clocksource => text(&machine.clocksource),
            Column::Preemption => text(&machine.preemption),
            Column::Hz => integer(machine.hz.map(i64::from)),
            Column::Libc => text(&machine.libc),
            Column::Governor => text(&machine.governor),
            Column::Facts => Value::Map(&self.facts),
            Column::Name => text(&self.name),
            Column::Experiment => Value::Text(&self.experiment),
            Column::Subject => Value::Text(&self.subject),
            Column::Runtime => text(&self.runtime),
            Column::Quantity => Value::Text(&self.quantity),
            Column::Unit => Value::Text(&self.unit),
            Column::RequestNs => integer(self.request_ns),
            Column::Conditions => Value::Text(&self.conditions),
            Column::Labels => Value::Map(&self.labels),
            Column::Count => Value::Integer(self.count),
            Column::Missed => Value::Integer(self.missed),
            Column::Early => Value::Integer(self.early),
            Column::Sum => Value::Real(self.sum),
            Column::Min => integer(self.min),
            Column::Max => integer(self.max),
            Column::StealShare => self.steal_share.map_or(Value::Null, Value::Real),
            Column::Disturbed => Value::Flag(self.disturbed),
            Column::BeyondFrom => integer(self.beyond_from),
            Column::Hi => Value::List(&self.hi),
            Column::N => Value::List(&self.n),
        }
    }
}
