//! The page's style sheet. It takes its colours from the pictures, so that both always agree.

use crate::picture::{Scheme, WIDTH, page_variables};

/// The whole sheet.
pub(super) fn sheet() -> String {
    let (light, dark) = (page_variables(Scheme::Light), page_variables(Scheme::Dark));
    format!(
        ":root{{color-scheme:light;{light}}}\
         @media (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}\
         :root:has(#theme-light:checked){{color-scheme:light;{light}}}\
         :root:has(#theme-dark:checked){{color-scheme:dark;{dark}}}\
         @media print{{:root,:root:has(#theme-dark:checked){{color-scheme:light;{light}}}}}\n{RULES}\
         .scroll svg{{min-width:{NARROWEST}px}}\
         @media screen{{@container (max-width:{NARROWEST}px){{.words{{display:block}}.scroll svg .head{{display:none}}\
         .scroll svg{{margin-top:calc(var(--ovs-head)*-1px*{NARROWEST}/{WIDTH})}}}}}}\
         .beside .scroll svg{{min-width:{NARROWEST_BESIDE}px}}\
         @media screen{{@container (min-width:{NARROWEST_BESIDE}px){{.beside .words{{display:none}}\
         .beside .scroll svg .head{{display:inline}}.beside .scroll svg{{margin-top:0}}}}}}\
         @media print{{.scroll svg,.beside .scroll svg{{min-width:0}}}}"
    )
}

/// The minimum width of a picture, in px, at which its words are legible. A narrower page scrolls pictures, and shows
/// their heading and finding as text.
const NARROWEST: u32 = 620;

/// The same for pictures of several results, which stand side by side if there is room.
const NARROWEST_BESIDE: u32 = 480;

const RULES: &str = "\
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--ovs-paper);color:var(--ovs-ink);font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}
.wide{max-width:84rem;margin:0 auto;padding:0 1.25rem}
a{color:var(--ovs-precise)}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible,input:focus-visible+label{outline:2px solid var(--ovs-precise);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--ovs-paper);padding:.5rem 1rem;z-index:2}
header{border-bottom:1px solid var(--ovs-grid);background:var(--ovs-band);padding:1.6rem 0 1.2rem}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1.35rem;line-height:1.25;margin:2.6rem 0 .4rem}
h3{font-size:1.02rem;line-height:1.35;margin:1.6rem 0 .3rem}
header p{margin:.15rem 0;color:var(--ovs-soft);overflow-wrap:anywhere}
header .warning{color:var(--ovs-warn);font-weight:600}
.theme{border:0;margin:.8rem 0 0;padding:0;display:flex;gap:.3rem;font-size:.85rem;flex-wrap:wrap}
.theme legend{float:left;padding:.15rem .5rem .15rem 0;color:var(--ovs-soft)}
.theme input{position:absolute;opacity:0;pointer-events:none}
.theme label{border:1px solid var(--ovs-grid);border-radius:1rem;padding:.15rem .75rem;cursor:pointer}
.theme input:checked+label{background:var(--ovs-ink);color:var(--ovs-paper);border-color:var(--ovs-ink)}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;margin:1rem 0 0;padding:0}
.lead{font-size:1.08rem;max-width:46rem;margin:.3rem 0 1rem}
.quiet{color:var(--ovs-soft);font-size:.92rem;max-width:52rem}
.cards{columns:29rem 3;column-gap:1rem}
.card{border:1px solid var(--ovs-grid);border-left:5px solid var(--ovs-axis);border-radius:8px;padding:.9rem 1.1rem 1rem;min-width:0;margin:0 0 1rem;break-inside:avoid}
.card.fault{border-left-color:var(--ovs-coarse)}
.card.cost{border-left-color:var(--ovs-warn)}
h4{font-size:1.02rem;line-height:1.35;margin:0 0 .35rem}
.badge{display:inline-block;font-size:.72rem;font-weight:650;letter-spacing:.04em;text-transform:uppercase;margin-right:.5rem;color:var(--ovs-soft)}
.fault .badge{color:var(--ovs-coarse)}
.cost .badge{color:var(--ovs-warn)}
.id{font:.78rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--ovs-soft);font-weight:400;white-space:nowrap}
.card p{margin:.35rem 0;overflow-wrap:anywhere}
.remedy{border-top:1px solid var(--ovs-grid);margin-top:.8rem;padding-top:.6rem}
.remedy .tried{color:var(--ovs-soft);font-size:.9rem}
.remedy .helped{color:var(--ovs-accent);font-weight:600}
.gain{display:grid;grid-template-columns:auto 1fr auto;gap:.15rem .6rem;align-items:center;margin:.5rem 0;font-size:.88rem;font-variant-numeric:tabular-nums}
.gain .track{height:.8rem;background:var(--ovs-band);border-radius:3px}
.gain .bar{display:block;height:100%;min-width:2px;border-radius:3px;background:var(--ovs-mute)}
.gain .after{background:var(--ovs-accent)}
p code{display:inline-block;max-width:100%;overflow-x:auto;white-space:nowrap;vertical-align:bottom}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--ovs-precise);width:fit-content}
pre{background:var(--ovs-band);border:1px solid var(--ovs-grid);border-radius:6px;padding:.6rem .8rem;overflow-x:auto;font:.82rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;margin:.4rem 0;tab-size:4}
.evidence{margin:.3rem 0;padding-left:1.1rem;font-size:.88rem;overflow-wrap:anywhere}
.pictures{columns:39rem 2;column-gap:1.4rem;margin-top:1rem}
figure{container-type:inline-size;margin:0 0 1.4rem;break-inside:avoid;border:1px solid var(--ovs-grid);border-radius:8px;overflow:hidden;min-width:0}
figcaption{padding:.5rem 1rem .7rem;font-size:.86rem;color:var(--ovs-soft);border-top:1px solid var(--ovs-grid)}
.beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(30rem,100%),1fr));gap:0 1.4rem;align-items:start;margin-top:1rem}
.alone{max-width:60rem;margin-top:1rem}
.scroll{overflow-x:auto;max-width:100%}
.scroll svg{display:block;width:100%}
.figures{columns:15rem}
.words{display:none;margin:0;padding:.7rem 1rem 0;font-size:.92rem}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums;margin:.3rem 0 .6rem}
caption{text-align:left;color:var(--ovs-soft);padding:.2rem 0 .4rem;font-size:.9rem}
th,td{padding:.22rem .8rem .22rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--ovs-grid)}
thead th{color:var(--ovs-soft);font-weight:600;white-space:nowrap;border-bottom-color:var(--ovs-axis)}
tbody th{font-weight:500}
.n{text-align:right;white-space:nowrap}
tbody tr:hover>*{background:var(--ovs-band)}
.strong{font-weight:700}
.soft{color:var(--ovs-soft)}
.good{color:var(--ovs-accent)}
.warn{color:var(--ovs-warn)}
.any{overflow-wrap:anywhere}
.name{white-space:nowrap}
.facts td{min-width:9rem;overflow-wrap:anywhere}
footer{border-top:1px solid var(--ovs-grid);margin-top:3rem;padding:1.2rem 0 2.5rem;color:var(--ovs-soft);font-size:.9rem}
@media (max-width:34rem){.wide{padding:0 .8rem}td.any{overflow-wrap:normal}h1{font-size:1.35rem}.card{padding:.8rem}th,td{padding-right:.6rem}}
@media print{body{font-size:10.5pt}.theme,nav,.skip{display:none}.card,figure,tr{break-inside:avoid}h2,h3{break-after:avoid}
.wide{max-width:none;padding:0}.scroll{overflow:visible}details:not([open])::details-content{content-visibility:visible}pre{white-space:pre-wrap}}
";
