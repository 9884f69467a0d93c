//! How a catalogue is written: each description is a constant, and the list of all of them follows from the order in
//! which they stand.

/// Declares a constant of `$kind` per entry, and `ALL`, the entries in their order.
macro_rules! catalogue {
    ($kind:ident, $($name:ident = $info:expr),+ $(,)?) => {
        $(
            #[doc = concat!("The description of `", stringify!($name), "`.")]
            pub const $name: $kind = $info;
        )+

        /// All of them, in the order in which they are listed.
        pub static ALL: &[&$kind] = &[$(&$name),+];
    };
}

pub(crate) use catalogue;
