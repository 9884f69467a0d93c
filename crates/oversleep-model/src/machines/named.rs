//! The names that people use for processors: a model, a board, a rented machine. Each leads to the microarchitecture of the
//! table, so that what a source says of its machine can be said as it stands there.

use super::processor::NAMES;

/// What a name begins with, in small letters with one space between its words, and the processor; `#` is any digit. The
/// first line that fits decides, so exceptions come before their rule. A maker's numbers follow its own scheme of names;
/// rented machines are as their lists of instance types say, and where a type has several, the one that it began with.
#[rustfmt::skip]
const MODELS: &[(&str, &[&str])] = &[
    // Intel's Core: the first digits are the generation. Those for sockets of servers are named a generation ahead.
    ("sandy-bridge", &["i7 3820", "i7 3930", "i7 3960", "i7 3970"]),
    ("ivy-bridge", &["i7 4820", "i7 4930", "i7 4960"]),
    ("haswell", &["i7 5820", "i7 5930", "i7 5960"]),
    ("broadwell", &["i7 6800", "i7 6850", "i7 6900", "i7 6950"]),
    ("skylake-server", &["i7 78##x", "i9 79##x", "i7 9800x", "i9 98##x", "i9 99##x", "i9 109##x"]),
    ("ice-lake", &["i# 10##g", "i# 10##ng", "i# 11##g", "i# 11###"]),
    ("alder-lake", &["i# 12##p", "i# 12##u", "i# 13##p", "i# 13##u", "i# 12###", "i# 13###", "i# 14###"]),
    ("comet-lake", &["i# 10###"]),
    ("sandy-bridge", &["i# 2###"]),
    ("ivy-bridge", &["i# 3###"]),
    ("haswell", &["i# 4###"]),
    ("broadwell", &["i# 5###"]),
    ("skylake", &["i# 6###", "i# 7###", "i# 8###", "i# 9###"]),
    ("nehalem", &["i# ###"]),
    ("meteor-lake", &["ultra # 1##"]),
    ("arrow-lake", &["ultra # 2##", "lunar lake"]),
    // Core 2 and those of its kind.
    ("penryn", &["2 duo e7", "2 duo e8", "2 duo p", "2 duo t6", "2 duo t8", "2 duo t9", "2 quad q8", "2 quad q9", "e8###",
        "q9###", "2 extreme qx9", "wolfdale", "yorkfield"]),
    ("core-2", &["2 duo", "2 quad", "2 extreme", "e6###", "q6###", "conroe", "merom"]),
    // Atoms, and what Intel sells as Celeron, Pentium and N.
    ("goldmont", &["j3355", "j3455", "n3350", "n3450", "n4200", "j4205", "e39##", "x5 e39##", "x7 e39##", "apollo lake"]),
    ("goldmont-plus", &["n40##", "n41##", "j40##", "j41##", "n50##", "j50##", "gemini lake"]),
    ("tremont", &["n45##", "n51##", "n60##", "j64##", "x6###", "jasper lake", "elkhart lake"]),
    ("silvermont", &["j18##", "j19##", "j2900", "n28##", "n29##", "n3520", "n3530", "n3540", "e38##", "bay trail"]),
    ("airmont", &["j30##", "j31##", "j37##", "n30##", "n31##", "n37##", "x5 z8", "x7 z8", "braswell", "cherry trail"]),
    ("gracemont", &["i3 n", "n95", "n97", "n100", "n150", "n200", "n250", "n30#"]),
    ("bonnell", &["n2##", "n4##", "d4##", "d5##", "z5##"]),
    // Xeons: the version, or the second digit.
    ("ivy-bridge", &["e3 #### v2", "e5 #### v2", "e5 ####l v2", "e5 ####w v2", "e7 #### v2"]),
    ("haswell", &["e3 #### v3", "e5 #### v3", "e5 ####l v3", "e5 ####w v3", "e7 #### v3", "e3 ####l v3"]),
    ("broadwell", &["e3 #### v4", "e5 #### v4", "e5 ####l v4", "e5 ####w v4", "e7 #### v4", "d 15##"]),
    ("skylake", &["e3 #### v5", "e3 #### v6", "e3 ####m v5", "e3 ####m v6", "e 21##", "e 22##"]),
    ("sandy-bridge", &["e3 12", "e5 #4##", "e5 #6##"]),
    ("ice-lake", &["e 23##", "w 11###"]),
    ("alder-lake", &["e 24##"]),
    ("comet-lake", &["w 10###"]),
    ("skylake-server", &["w 21##", "w 22##", "w 31##", "w 32##", "d 21##"]),
    ("ice-lake-server", &["w 33##", "d 17##", "d 27##"]),
    ("sapphire-rapids", &["w# 24##", "w# 34##", "w# 25##", "w# 35##"]),
    ("granite-rapids", &["6 6###p", "6###p"]),
    ("skylake-server", &["platinum #1##", "gold #1##", "silver #1##", "bronze #1##", "platinum #2##", "gold #2##",
        "silver #2##", "bronze #2##"]),
    ("ice-lake-server", &["platinum #3##", "gold #3##", "silver #3##"]),
    ("sapphire-rapids", &["platinum #4##", "gold #4##", "silver #4##", "bronze #4##", "platinum #5##", "gold #5##",
        "silver #5##"]),
    ("penryn", &["x54##", "e54##", "l54##", "x33##", "e52##"]),
    ("core-2", &["x53##", "e53##", "l53##", "51##", "x32##"]),
    ("nehalem", &["x34##", "x55##", "x56##", "e55##", "e56##", "l55##", "l56##", "w35##", "w36##", "x75##", "westmere"]),
    // AMD's Ryzen: the first digit, and for notebooks since 2022 the third.
    ("zen", &["ryzen 1###", "ryzen 2###", "ryzen 3###g", "ryzen 3###u", "ryzen 3###h", "ryzen 3###c"]),
    ("zen-2", &["ryzen 3###", "ryzen 4###", "ryzen 53##u", "ryzen 5500u", "ryzen 5700u", "ryzen 7#2#"]),
    ("zen-3", &["ryzen 5###", "ryzen 6###", "ryzen 7#3#u", "ryzen 7#3#h"]),
    ("zen-4", &["ryzen 7###", "ryzen 8###", "ryzen z1"]),
    ("zen-5", &["ryzen 9###", "ryzen ai"]),
    ("zen", &["epyc 7##1", "naples"]),
    ("zen-5", &["epyc 9##5", "turin"]),
    ("epyc", &["epyc", "rome", "milan", "genoa", "bergamo"]),
    ("k10", &["phenom", "athlon ii", "opteron 23", "opteron 61"]),
    ("piledriver", &["fx #", "opteron 62", "opteron 63", "bulldozer", "a## 5", "a## 6", "a# 5", "a# 6"]),
    ("steamroller", &["a## 7", "a## 8", "a## 9", "a# 7", "a# 8", "a# 9", "kaveri", "excavator"]),
    ("jaguar", &["puma", "kabini", "gx 4"]),
    // Microarchitectures that are as another one.
    ("skylake", &["kaby lake", "coffee lake", "whiskey lake"]),
    ("skylake-server", &["cascade lake", "skylake x", "skylake sp"]),
    ("ice-lake", &["tiger lake", "rocket lake"]),
    ("alder-lake", &["raptor lake", "golden cove"]),
    ("sapphire-rapids", &["emerald rapids"]),
    ("zen", &["zen+", "zen 1"]),
    // Boards and chips.
    ("bcm2837", &["raspberry pi zero 2", "pi zero 2", "raspberry pi 3", "pi 3", "rpi3", "bcm2710"]),
    ("am64", &["am62", "beagleplay"]),
    ("cortex-a53", &["orange pi zero 2"]),
    ("arm1176", &["raspberry pi zero", "pi zero", "raspberry pi 1", "pi 1", "rpi1", "bcm2835"]),
    ("cortex-a7", &["raspberry pi 2", "pi 2", "rpi2", "bcm2836", "a20", "stm32mp1", "imx6ul", "i.mx6ul", "i.mx 6ul"]),
    ("bcm2711", &["raspberry pi 4", "pi 4", "rpi4", "raspberry pi cm4"]),
    ("ls1046a", &["ls1046"]),
    ("bcm2712", &["raspberry pi 5", "pi 5", "rpi5"]),
    ("tegra210", &["jetson nano", "jetson tx1", "tegra x1"]),
    ("cortex-a57", &["jetson tx2"]),
    ("tegra234", &["jetson orin", "jetson agx orin", "orin"]),
    ("cortex-a8", &["beaglebone", "am335", "beagleboard"]),
    ("cortex-a9", &["zynq 7", "zynq7", "imx6", "i.mx6", "i.mx 6", "cyclone v"]),
    ("cortex-a15", &["am57", "tegra k1", "jetson tk1"]),
    ("zynqmp", &["zynq ultrascale", "zcu10", "kria"]),
    ("imx8m", &["imx8m", "i.mx8m", "i.mx 8m"]),
    ("rk3399", &["rockpro64", "nanopi m4"]),
    ("rk3588", &["orange pi 5", "rock 5"]),
    ("cortex-a55", &["rk3566", "rk3568", "odroid c4", "imx93", "i.mx93"]),
    ("cortex-a73", &["odroid n2", "amlogic s922x"]),
    ("graviton", &["graviton 1", "graviton1"]),
    ("graviton-2", &["graviton2"]),
    ("graviton-3", &["graviton3"]),
    ("altra", &["ampere altra"]),
    ("neoverse-v2", &["graviton 4", "graviton4", "grace", "axion"]),
    ("neoverse-n2", &["cobalt 100"]),
    // Machines that one rents: Amazon's, Google's, Microsoft's.
    ("graviton-2", &["t4g.", "m6g", "c6g", "r6g", "x2gd.", "im4gn."]),
    ("altra", &["t2a standard"]),
    ("graviton-3", &["m7g", "c7g", "r7g", "hpc7g."]),
    ("neoverse-v2", &["m8g", "c8g", "r8g", "x8g.", "c4a "]),
    ("graviton", &["a1."]),
    ("ivy-bridge", &["m3.", "c3.", "r3."]),
    ("haswell", &["c4.", "t2."]),
    ("broadwell", &["m4.", "r4.", "i3.", "d#s v3", "d##s v3", "e#s v3"]),
    ("zen", &["m5a", "r5a", "t3a."]),
    ("epyc", &["c5a", "m6a.", "c6a.", "r6a.", "m7a.", "c7a.", "r7a.", "n2d ", "t2d ", "c2d ", "c3d ", "d#as v", "d##as v",
        "d#ads v", "e#as v", "e#ads v"]),
    ("zen-5", &["m8a.", "c8a.", "r8a.", "c4d "]),
    ("skylake-server", &["m5.", "m5d", "m5n", "m5z", "c5.", "c5d", "c5n", "r5.", "r5d", "r5n", "r5b", "t3.", "z1d.", "i3en.",
        "n1 standard", "n1 high", "n2 standard", "n2 high", "c2 standard", "d#s v4", "d##s v4", "d#ds v4", "e#s v4"]),
    ("ice-lake-server", &["m6i", "c6i", "r6i", "d#s v5", "d##s v5", "d#ds v5", "e#s v5"]),
    ("sapphire-rapids", &["m7i", "c7i", "r7i", "c3 standard", "c3 high", "c4 standard", "c4 high", "n4 ", "d#s v6", "d##s v6"]),
    ("granite-rapids", &["m8i", "c8i", "r8i"]),
    ("altra", &["d#ps v5", "d#pds v5", "d#pls v5"]),
    ("neoverse-n2", &["d#ps v6", "d#pds v6", "d#pls v6"]),
    // Apple's.
    ("apple-m1", &["apple m1", "m1"]),
    ("apple-m2", &["apple m2", "m2"]),
    ("apple-m3", &["apple m3", "m3"]),
    ("apple-m4", &["apple m4", "m4"]),
];

/// Words that say nothing about which one it is.
const NOISE: [&str; 14] = [
    "intel",
    "amd",
    "arm",
    "xeon",
    "celeron",
    "pentium",
    "atom",
    "core",
    "cpu",
    "processor",
    "pro",
    "r",
    "tm",
    "standard",
];

/// The processor of the table that a name of a model, a board or a rented machine means.
pub(super) fn named(text: &str) -> Option<&'static str> {
    let words = words(text);
    let own = words.join("-");
    if let Some(own) = NAMES.iter().find(|name| **name == text.trim() || **name == own) {
        return Some(own);
    }
    let said = words.join(" ");
    let line = MODELS.iter().find(|(_, begins)| begins.iter().any(|begin| fits(begin, &said)));
    line.map(|(name, _)| *name)
}

/// What a user can do who named a processor that isn't in the table.
pub(super) fn instead(text: &str) -> &'static str {
    let words = words(text);
    let is_apple =
        words.first().is_some_and(|first| first == "apple" || ["m1", "m2", "m3", "m4", "m5"].contains(&&**first));
    if is_apple {
        "the modelled machine macos-14-m1 has a processor of Apple's, and linux-apple-vm is a guest on one"
    } else {
        "name its microarchitecture; where only its clock rate is known, 'cpus.mhz' scales what reads of clocks take"
    }
}

/// The words of a name, in small letters, without what says nothing.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let known = lower.split('@').next().unwrap_or_default();
    let mut words: Vec<&str> =
        known.split([' ', '-', '_', '(', ')', ',', '/', '®', '™']).filter(|word| !word.is_empty()).collect();
    for word in &mut words {
        match *word {
            "core2" => *word = "2",
            "threadripper" => *word = "ryzen",
            _ => {}
        }
    }
    if words.len() > 1 && ["r3", "r5", "r7", "r9"].contains(&words[0]) {
        words[0] = "ryzen";
    }
    // Of a rented machine the standard size is part of its name.
    let is_google = words.get(1).is_some_and(|second| ["standard", "highcpu", "highmem"].contains(second));
    words.retain(|word| !NOISE.contains(word) || (is_google && *word == "standard"));
    words.dedup();
    if words.first() == Some(&"ryzen")
        && words.get(1).is_some_and(|class| ["3", "5", "7", "9"].contains(class))
        && words.len() > 2
    {
        words.remove(1);
    }
    words.into_iter().map(str::to_owned).collect()
}

/// Whether a name begins like this; `#` is any digit.
fn fits(begin: &str, said: &str) -> bool {
    let mut said = said.chars();
    begin.chars().all(|sign| said.next().is_some_and(|own| own == sign || (sign == '#' && own.is_ascii_digit())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_call_a_processor_leads_to_its_entry() {
        for (text, processor) in [
            ("zen-3", "zen-3"),
            ("Zen 4", "zen-4"),
            ("Cortex-A76", "cortex-a76"),
            ("i7-8700K", "skylake"),
            ("Intel(R) Core(TM) i7-4790K CPU @ 4.00GHz", "haswell"),
            ("Core i9-9900K", "skylake"),
            ("i9-9980XE", "skylake-server"),
            ("i7-5820K", "haswell"),
            ("i7-6900K", "broadwell"),
            ("i7-3540M", "ivy-bridge"),
            ("i7-920", "nehalem"),
            ("i7-1068NG7", "ice-lake"),
            ("i7-1185G7", "ice-lake"),
            ("i7-1260P", "alder-lake"),
            ("i7-10700K", "comet-lake"),
            ("11th Gen", ""),
            ("i9-13900K", "alder-lake"),
            ("i3-N305", "gracemont"),
            ("N100", "gracemont"),
            ("Core Ultra 7 155H", "meteor-lake"),
            ("Intel Core Ultra 9 285K", "arrow-lake"),
            ("Core 2 Duo E8400", "penryn"),
            ("Core2 Quad Q6600", "core-2"),
            ("Celeron J1900", "silvermont"),
            ("Celeron N5105", "tremont"),
            ("J4125", "goldmont-plus"),
            ("Atom N270", "bonnell"),
            ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "broadwell"),
            ("Xeon E5-2680", "sandy-bridge"),
            ("E3-1230 v3", "haswell"),
            ("Xeon Gold 6154", "skylake-server"),
            ("Xeon Platinum 8259CL", "skylake-server"),
            ("Xeon Platinum 8369B", "ice-lake-server"),
            ("Xeon Platinum 8575C", "sapphire-rapids"),
            ("Xeon X5650", "nehalem"),
            ("Xeon W-10855M", "comet-lake"),
            ("Xeon 6 6980P", "granite-rapids"),
            ("Xeon", ""),
            ("AMD Ryzen 9 5950X 16-Core Processor", "zen-3"),
            ("Ryzen 7 7700X", "zen-4"),
            ("R5 5600X", "zen-3"),
            ("Ryzen 7 7730U", "zen-3"),
            ("Ryzen 7 3700X", "zen-2"),
            ("Ryzen 5 3500U", "zen"),
            ("Ryzen 7 2700X", "zen"),
            ("Ryzen Threadripper PRO 3955WX", "zen-2"),
            ("Ryzen 9 9950X", "zen-5"),
            ("EPYC 7763", "epyc"),
            ("EPYC 7571", "zen"),
            ("EPYC 9755", "zen-5"),
            ("FX-8350", "piledriver"),
            ("Phenom II X4 955", "k10"),
            ("Raspberry Pi 4 Model B", "bcm2711"),
            ("Pi 3B+", "bcm2837"),
            ("Pi Zero 2 W", "bcm2837"),
            ("Pi Zero", "arm1176"),
            ("Jetson Nano", "tegra210"),
            ("Jetson Orin Nano", "tegra234"),
            ("BeagleBone Black", "cortex-a8"),
            ("Graviton 2", "graviton-2"),
            ("graviton3", "graviton-3"),
            ("c5.large", "skylake-server"),
            ("c6g.xlarge", "graviton-2"),
            ("m6i.2xlarge", "ice-lake-server"),
            ("t3a.small", "zen"),
            ("n2-standard-4", "skylake-server"),
            ("n2d-standard-2", "epyc"),
            ("Standard_D4s_v5", "ice-lake-server"),
            ("D8as_v4", "epyc"),
            ("M1 Max", "apple-m1"),
            ("Apple M4 Max", "apple-m4"),
            ("Apple M9", ""),
            ("abacus", ""),
            ("", ""),
        ] {
            assert_eq!(named(text).unwrap_or_default(), processor, "{text}");
        }
    }

    #[test]
    fn every_line_leads_to_an_entry_and_none_is_hidden_by_one_above_it() {
        let all: Vec<(&str, &str)> =
            MODELS.iter().flat_map(|(name, begins)| begins.iter().map(|&begin| (*name, begin))).collect();
        for (index, (name, begin)) in all.iter().enumerate() {
            assert!(NAMES.contains(name), "{name}");
            let hides = all[..index].iter().find(|(_, above)| fits(above, begin));
            assert!(hides.is_none(), "'{begin}' is hidden by {hides:?}");
        }
    }
}
