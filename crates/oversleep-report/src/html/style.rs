//! The page's style sheet. It takes its colours from the pictures, so that both always agree.

use crate::picture::{Form, Scheme, page_variables, style_sheet};

/// The whole sheet.
pub(super) fn sheet() -> String {
    let (light, dark) = (page_variables(Scheme::Light), page_variables(Scheme::Dark));
    let wide = Form::Wide.width();
    let column = wide + FRAME_PX;
    format!(
        ":root{{color-scheme:light;{light}}}\
         @media (prefers-color-scheme:dark){{:root{{color-scheme:dark;{dark}}}}}\
         :root:has(#theme-light:checked){{color-scheme:light;{light}}}\
         :root:has(#theme-dark:checked){{color-scheme:dark;{dark}}}\
         @media print{{:root,:root:has(#theme-dark:checked){{color-scheme:light;{light}}}}}\n{RULES}{pictures}\
         .pictures{{columns:{column}px 3}}\
         .beside{{grid-template-columns:repeat(auto-fit,minmax(min({column}px,100%),1fr))}}\
         @media screen{{\
         @container (max-width:{below}px){{.form-wide{{display:none}}.form-narrow{{display:block}}}}\
         @container (min-width:{wide_beside}px){{.plate{{grid-template-columns:{wide}px 1fr}}{BESIDE}}}}}",
        pictures = style_sheet(),
        below = wide - 1.0,
        wide_beside = wide + ASIDE_MIN_PX,
    )
}

/// The borders of a figure, px.
const FRAME_PX: f64 = 2.0;

/// The least room beside a picture, px, in which its words stand there.
const ASIDE_MIN_PX: f64 = 260.0;

/// A picture's words beside it.
const BESIDE: &str = "\
.plate{grid-template-rows:auto 1fr}\
.form-wide,.form-narrow{grid-column:1;grid-row:1/3}\
.words,figcaption{grid-column:2}\
figcaption{border-top:0}";

const RULES: &str = "\
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:7rem;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
:root{--page:1.9rem;--section:1.5rem;--part:1.125rem;--body:1rem;--note:.9rem;--small:.8125rem}
body{margin:0;background:var(--ovs-paper);color:var(--ovs-ink);font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}
.wide{max-width:120rem;margin:0 auto;padding:0 1.25rem}
a{color:var(--ovs-precise)}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible,input:focus-visible+label{outline:2px solid var(--ovs-precise);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:1rem;background:var(--ovs-paper);padding:.5rem 1rem;z-index:2}
header{border-bottom:1px solid var(--ovs-grid);background:var(--ovs-band);padding:1.6rem 0 1.2rem}
h1{font-size:var(--page);line-height:1.2;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:var(--section);line-height:1.25;margin:2.6rem 0 .4rem}
h3{font-size:var(--part);line-height:1.35;margin:1.8rem 0 .3rem}
header p{margin:.15rem 0;color:var(--ovs-soft);overflow-wrap:anywhere;max-width:80rem}
.warning{color:var(--ovs-warn);font-size:var(--note);max-width:52rem}
header .warning{font-size:var(--body);font-weight:600}
.theme{border:0;margin:.8rem 0 0;padding:0;display:flex;gap:.3rem;font-size:var(--note);flex-wrap:wrap}
.theme legend{float:left;padding:.15rem .5rem .15rem 0;color:var(--ovs-soft)}
.theme input{position:absolute;opacity:0;pointer-events:none}
.theme label{border:1px solid var(--ovs-grid);border-radius:1rem;padding:.15rem .75rem;cursor:pointer}
.theme input:checked+label{background:var(--ovs-ink);color:var(--ovs-paper);border-color:var(--ovs-ink)}
.bar{position:sticky;top:0;z-index:1;background:var(--ovs-paper);border-bottom:1px solid var(--ovs-grid);font-size:var(--note)}
.bar .wide{display:flex;flex-wrap:wrap;align-items:center;gap:0 1rem}
.mark{color:var(--ovs-warn);padding:.3rem 0;overflow-wrap:anywhere}
.bar ul{list-style:none;display:flex;gap:0 1.1rem;margin:0;padding:0;overflow-x:auto;white-space:nowrap;flex:1 1 11rem;min-width:0;scrollbar-width:thin;padding-right:2.5rem;mask-image:linear-gradient(270deg,transparent,#000 2.5rem)}
.bar a{display:block;padding:.5rem 0}
@media (min-width:64rem){.bar ul{flex-wrap:wrap;overflow:visible;padding:.2rem 0;mask-image:none}.bar a{padding:.25rem 0}}
.headlines{list-style:none;display:flex;flex-wrap:wrap;gap:1rem;margin:.8rem 0 1.2rem;padding:0}
.headlines li{flex:1 1 13rem;min-width:0;max-width:34rem;border:1px solid var(--ovs-grid);border-top:4px solid var(--ovs-axis);border-radius:8px;padding:.7rem 1rem .8rem;display:grid;align-content:start;gap:.15rem}
.headlines .cost{flex:2 1 20rem;max-width:48rem;border-top-color:var(--ovs-warn)}
.headlines .cost span:last-child{color:var(--ovs-ink);font-size:var(--body)}
.headlines span{color:var(--ovs-soft);font-size:var(--note);overflow-wrap:break-word}
.headlines strong{font-size:var(--section);line-height:1.25;text-wrap:balance;font-variant-numeric:tabular-nums}
.lead{overflow-wrap:anywhere;font-size:var(--part);max-width:46rem;margin:.3rem 0 1rem}
.quiet{color:var(--ovs-soft);font-size:var(--note);max-width:52rem}
.cards{columns:29rem 3;column-gap:1rem;margin-top:.6rem}
.cards:not(:has(>:nth-child(3))){columns:29rem 2}
.card{border:1px solid var(--ovs-grid);border-left:5px solid var(--ovs-axis);border-radius:8px;padding:.9rem 1.1rem 1rem;min-width:0;margin:0 0 1rem;break-inside:avoid}
.card.fault{border-left-color:var(--ovs-coarse)}
.card.cost{border-left-color:var(--ovs-warn)}
h4,.card h3{font-size:var(--body);line-height:1.35;margin:0 0 .35rem}
.badge{display:inline-block;font-size:var(--small);font-weight:650;letter-spacing:.04em;text-transform:uppercase;margin-right:.5rem;color:var(--ovs-soft)}
.fault .badge{color:var(--ovs-coarse)}
.cost .badge{color:var(--ovs-warn)}
.id{font:var(--small) ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--ovs-soft);font-weight:400;white-space:nowrap}
.card p{margin:.35rem 0;overflow-wrap:break-word}
.remedy{border-top:1px solid var(--ovs-grid);margin-top:.8rem;padding-top:.6rem}
.remedy .tried{color:var(--ovs-soft);font-size:var(--note)}
.remedy .helped{color:var(--ovs-accent);font-weight:600}
.gain{display:grid;grid-template-columns:auto 1fr auto;gap:.15rem .6rem;align-items:center;margin:.5rem 0;font-size:var(--note);font-variant-numeric:tabular-nums}
.gain .track{height:.8rem;background:var(--ovs-band);border-radius:3px}
.gain .bar{display:block;height:100%;min-width:2px;border-radius:3px;background:var(--ovs-mute)}
.gain .after{background:var(--ovs-accent)}
p code{display:inline-block;max-width:100%;overflow-x:auto;white-space:nowrap;vertical-align:bottom}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--ovs-precise);width:fit-content}
pre{background:var(--ovs-band);border:1px solid var(--ovs-grid);border-radius:6px;padding:.6rem .8rem;overflow-x:auto;font:var(--small)/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;margin:.4rem 0;tab-size:4}
.evidence{margin:.3rem 0;padding-left:1.1rem;font-size:var(--note);overflow-wrap:anywhere}
.pictures{column-gap:1rem;margin-top:.6rem}
figure{container-type:inline-size;margin:0 0 1rem;break-inside:avoid;border:1px solid var(--ovs-grid);border-radius:8px;overflow:hidden;min-width:0}
.plate{display:grid;grid-template-rows:auto auto 1fr;grid-template-columns:minmax(0,1fr)}
.form-wide,.form-narrow{overflow-x:auto;min-width:0}
.form-narrow{display:none}
.plate svg{display:block}
.words{padding:.8rem 1rem .3rem}
.words h3{margin:0 0 .35rem}
.words p{margin:0}
figcaption{padding:.5rem 1rem .7rem;font-size:var(--note);color:var(--ovs-soft);border-top:1px solid var(--ovs-grid)}
.beside{display:grid;gap:0 1rem;align-items:start;margin-top:.6rem}
.alone{margin-top:.6rem}
@media (min-width:60rem){.concluded:has(> section){display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:2rem;align-items:start}.concluded h2{margin-top:.2rem}}
.scroll{overflow-x:auto;max-width:100%}
.scroll{background:linear-gradient(90deg,var(--ovs-paper) 40%,transparent) 0 0/2.5rem 100%,linear-gradient(270deg,var(--ovs-paper) 40%,transparent) 100% 0/2.5rem 100%,linear-gradient(90deg,var(--ovs-axis),transparent) 0 0/.7rem 100%,linear-gradient(270deg,var(--ovs-axis),transparent) 100% 0/.7rem 100%;background-repeat:no-repeat;background-attachment:local,local,scroll,scroll}
.tables{display:flex;flex-wrap:wrap;gap:0 3rem;align-items:flex-start}
.tables>.scroll,.tables>details{min-width:0;max-width:100%}
.tables>.legend{flex-basis:100%}
.figures{columns:15rem}
table{border-collapse:collapse;font-size:var(--note);font-variant-numeric:tabular-nums;margin:.3rem 0 .6rem;min-width:min(100%,18rem)}
caption span{position:sticky;left:0;display:inline-block;max-width:calc(100vw - 2.5rem)}
caption{text-align:left;color:var(--ovs-soft);padding:.2rem 0 .4rem}
th,td{padding:.22rem .8rem .22rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--ovs-grid)}
thead th{color:var(--ovs-soft);font-weight:600;white-space:nowrap;border-bottom-color:var(--ovs-axis)}
tbody th{font-weight:500}
.n{text-align:right;white-space:nowrap}
tbody tr:hover>*{background:var(--ovs-band)}
.strong{font-weight:700}
.soft{color:var(--ovs-soft)}
.good{color:var(--ovs-accent)}
.warn{color:var(--ovs-warn)}
.any{overflow-wrap:break-word}
.more{display:none}
.name{white-space:nowrap}
.facts td{min-width:9rem;overflow-wrap:anywhere}
footer{border-top:1px solid var(--ovs-grid);margin-top:3rem;padding:1.2rem 0 2.5rem;color:var(--ovs-soft);font-size:var(--note)}
@media (max-width:34rem){:root{--page:1.5rem;--section:1.3rem}.wide{padding:0 .55rem}.headlines{gap:.6rem}.headlines li{flex-basis:8rem;max-width:none;padding:.5rem .7rem}.headlines .cost{max-width:none;flex-basis:100%;order:-1}.words,figcaption{padding-inline:.6rem}caption span{max-width:calc(100vw - 1.2rem)}.figures{columns:1}td.any{overflow-wrap:normal}table:not(.blocks) td.any{white-space:nowrap}.card{padding:.8rem}th,td{padding-right:.6rem}
.blocks,.blocks caption,.blocks tbody{display:block}.blocks thead{display:none}.blocks tr{display:flex;flex-wrap:wrap;gap:.1rem .9rem;padding:.5rem 0;border-bottom:1px solid var(--ovs-grid)}.blocks th{flex-basis:100%;font-weight:600}.blocks th,.blocks td{border:0;padding:0;text-align:left}.blocks td:empty{display:none}.blocks .key{font-weight:600}.blocks td[data-head]::before{content:attr(data-head) ' ';color:var(--ovs-soft);font-weight:400}
.more{display:block;width:fit-content;padding:.5rem 0;color:var(--ovs-precise);font-size:var(--note)}.scroll:not(:has(.more input:checked)) .long tbody tr:nth-child(n+7){display:none}
table:not(.blocks) tbody th{position:sticky;left:0;background:var(--ovs-paper);max-width:10rem;white-space:normal;overflow-wrap:break-word}}
@media print{body{font-size:10.5pt}.theme,.bar ul,.skip{display:none}.bar{position:static}.form-wide svg{max-width:100%;height:auto}.scroll{background:none}.bulk:not([open]){display:none}.gain .bar{print-color-adjust:exact}.card,figure,tr{break-inside:avoid}h2,h3{break-after:avoid}
.wide{max-width:none;padding:0}.scroll{overflow:visible}details:not([open])::details-content{content-visibility:visible}pre{white-space:pre-wrap}}
";
