//! The notation of catalogues: an entry in few lines, and the pages that many entries cite.

/// A description: its base, name and call, the fields that differ from the base, then who uses it and its pitfalls.
macro_rules! entry {
    ($base:path: $name:literal => $call:literal, $($field:ident: $value:expr,)* $doc:literal) => {{
        let mut info = $base;
        (info.name, info.call, info.doc) = ($name, $call, $doc);
        $(info.$field = $value;)*
        info
    }};
}

/// A page of Linux's manual: `man7!("2/poll.2")`.
macro_rules! man7 {
    ($page:literal) => {
        concat!("https://man7.org/linux/man-pages/man", $page, ".html")
    };
}

/// A page of Microsoft's reference.
macro_rules! win32 {
    ($page:literal) => {
        concat!("https://learn.microsoft.com/windows/win32/", $page)
    };
}

/// A page of Apple's archive.
macro_rules! archive {
    ($page:literal) => {
        concat!("https://developer.apple.com/library/archive/", $page)
    };
}

/// A page of the manual in Apple's archive: `man!("2/poll.2")`.
macro_rules! man {
    ($page:literal) => {
        concat!(
            "https://developer.apple.com/library/archive/documentation/System/Conceptual/ManPages_iPhoneOS/man",
            $page,
            ".html"
        )
    };
}

/// An enumeration, with the words of each variant for tables and, if documents state it in full, the full text.
macro_rules! worded {
    (
        $(#[$about:meta])* pub enum $kind:ident { $($name:ident = $words:literal, $rule:literal;)+ }
        $(#[$says:meta])* pub const fn $method:ident
        $(#[$states:meta])* pub const fn $in_full:ident
    ) => {
        worded! {
            $(#[$about])* pub enum $kind { $(#[doc = $rule] $name = $words,)+ }
            $(#[$says])* pub const fn $method
        }

        impl $kind {
            $(#[$states])*
            pub const fn $in_full(self) -> &'static str {
                match self { $($kind::$name => $rule,)+ }
            }
        }
    };
    (
        $(#[$about:meta])* pub enum $kind:ident { $($(#[$doc:meta])* $name:ident = $words:literal,)+ }
        $(#[$says:meta])* pub const fn $method:ident
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind { $($(#[$doc])* $name,)+ }

        impl $kind {
            $(#[$says])*
            pub const fn $method(self) -> &'static str {
                match self { $($kind::$name => $words,)+ }
            }
        }
    };
}

pub(crate) use {archive, entry, man, man7, win32, worded};
