//! The style rules that other reports don't need: colours of parts, and timelines that enlarge a chosen part. Every
//! rule consists of numbers and of names from this crate.

use std::fmt::Write;

use oversleep_record::observed::wait::Wait;
use oversleep_record::part::Part;

use super::timeline::Timeline;

/// The fill of a part, light enough to carry dark letters in either scheme.
fn fill(part: Part) -> &'static str {
    match part {
        Part::Api => "#7fbdf0",
        Part::Stop => "#a9a9dd",
        Part::Signal => "#c79ad6",
        Part::Slack => "#e6d85c",
        Part::Irq => "#f08a7e",
        Part::Timer => "#d9c27a",
        Part::Irqbody => "#f7b9ae",
        Part::Wake => "#4fc3a1",
        Part::Ipi => "#a3dfcd",
        Part::Runq => "#f2a93b",
        Part::Ret => "#b4c6da",
        Part::Quota => "#c79be0",
        Part::User => "#d6dee7",
        Part::Unattributed => "#c9c9c9",
        Part::Requested => "#dfe8d8",
        Part::Late => "#f0a0b8",
        Part::Work => "#8fc98a",
        Part::Fault => "#d99a6c",
        Part::Blocked => "#9db4d0",
    }
}

/// The rules for bars of parts.
pub fn bars() -> String {
    let mut sheet = BARS.to_owned();
    for &part in Part::ALL {
        let _ = write!(sheet, ".p-{}{{background:{}}}", part.name(), fill(part));
    }
    sheet
}

/// All rules for a page that shows these waits as timelines.
pub fn sheet(worst: &[Wait]) -> String {
    let mut sheet = bars() + TIMELINES;
    for &part in Part::ALL {
        let name = part.name();
        // The text about a part shows while the pointer is on it, or while it is chosen.
        let _ = write!(sheet, ".wait:has(.track .p-{name}:hover) .about .a-{name}{{display:block}}");
        let _ =
            write!(sheet, ".wait:has(.z-{name}:checked):not(:has(label.seg:hover)) .about .a-{name}{{display:block}}");
    }
    for (number, wait) in (1..).zip(worst) {
        for view in Timeline::of(wait).views() {
            let (id, from, span) = (view.id(number), view.from, view.span);
            let _ = write!(sheet, "#wait-{number}:has(#{id}:checked){{--from:{from:.6};--span:{span:.9}}}");
            let _ = write!(sheet, "#wait-{number}:has(#{id}:checked) .s-{}{{display:flex}}", view.name);
        }
    }
    sheet
}

const BARS: &str = "\
td:has(.split){vertical-align:middle}
.split{display:flex;height:1.35rem;min-width:11rem;width:22rem;max-width:100%;border-radius:3px;overflow:hidden;background:var(--ovs-band)}
.split span{color:#14171c;font:600 var(--small)/1.35rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;text-align:center;overflow:hidden}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;margin:.6rem 0;padding:0;font-size:var(--note);color:var(--ovs-soft)}
.legend b{color:var(--ovs-ink);font-weight:600}
.key{display:inline-block;width:1.15rem;text-align:center;border-radius:3px;margin-right:.4rem;color:#14171c;font:600 var(--small)/1.15rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.verdict .split{width:100%;height:2.1rem;margin:.6rem 0}
.verdict .split span{line-height:2.1rem;font-size:var(--note)}
.verdict .first{font-weight:600}
@media (max-width:34rem){.blocks td:has(.split){flex-basis:100%}.blocks .split{width:100%;min-width:0}}
@media print{.split span,.key{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
";

const TIMELINES: &str = "\
.wait{border:1px solid var(--ovs-grid);border-radius:8px;padding:.7rem 1rem .8rem;margin:0 0 1.1rem;--from:0;--span:1;break-inside:avoid}
.wait h3{margin:0 0 .5rem;overflow-wrap:anywhere}
.zoom{border:0;margin:0 0 .5rem;padding:0;display:flex;flex-wrap:wrap;gap:.3rem;font-size:var(--small)}
.zoom legend{float:left;padding:.1rem .5rem .1rem 0;color:var(--ovs-soft)}
.zoom input{position:absolute;opacity:0;pointer-events:none}
.zoom label{border:1px solid var(--ovs-grid);border-radius:1rem;padding:.1rem .6rem;cursor:pointer}
.zoom input:checked+label{background:var(--ovs-ink);color:var(--ovs-paper);border-color:var(--ovs-ink)}
.lane{display:grid;grid-template-columns:6.5rem minmax(0,1fr);align-items:center;font-size:var(--small);color:var(--ovs-soft);margin:.15rem 0}
.lane>span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;padding-right:.5rem}
.track{position:relative;height:1.7rem;background:var(--ovs-band);border-radius:3px;overflow:hidden}
.seg{position:absolute;top:0;bottom:0;left:calc((var(--a) - var(--from))/var(--span)*100%);width:max(1.5px,calc(var(--w)/var(--span)*100%));color:#14171c;font:600 var(--small)/1.7rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;text-align:center;overflow:hidden;white-space:nowrap;cursor:zoom-in;transition:left .25s,width .25s}
.track .other{background:var(--ovs-mute);color:var(--ovs-ink);font-weight:500;cursor:default;text-align:left;box-shadow:inset 1px 0 var(--ovs-paper)}
.track .request{background:var(--ovs-grid)}
.seg{container-type:inline-size}
.seg>span{display:none}
@container (min-width:.9rem){label.seg>span{display:inline}}
@container (min-width:2.6rem){.other>span{display:block;overflow:hidden;text-overflow:ellipsis}}
.seg:hover{outline:2px solid var(--ovs-ink);outline-offset:-2px}
.deadline{position:absolute;top:0;bottom:0;width:0;border-left:2px dashed var(--ovs-coarse);left:calc((var(--d) - var(--from))/var(--span)*100%);transition:left .25s}
.scale{display:none;justify-content:space-between;margin:.1rem 0 .1rem 6.5rem;font-size:var(--small);color:var(--ovs-soft);font-variant-numeric:tabular-nums}
.about{min-height:2.9rem;margin:.35rem 0 0 6.5rem;font-size:var(--note);overflow-wrap:anywhere}
.about p{margin:0;display:none}
.wait:is(:has(.z-late:checked),:has(.z-all:checked)):not(:has(label.seg:hover)) .about .main{display:block}
@media (max-width:34rem){.lane{grid-template-columns:1fr}.scale,.about{margin-left:0}.wait{padding:.6rem}}
@media (prefers-reduced-motion:reduce){.seg,.deadline{transition:none}}
@media print{.zoom{display:none}.seg{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
";
