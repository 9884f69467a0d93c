// Three tabs, one for each thing to do, and what the engine says in the words of this page.

const tabNames = ['ask', 'check', 'results'];

/** Shows a tab; what the others show stays as it is. */
function chooseTab(name) {
  for (const one of tabNames) {
    const tab = byId(`tab-${one}`);
    tab.ariaSelected = String(one === name);
    tab.tabIndex = one === name ? 0 : -1;
    byId(one).hidden = one !== name;
  }
}

function tabs() {
  for (const [at, name] of tabNames.entries()) {
    const tab = byId(`tab-${name}`);
    tab.onclick = () => chooseTab(name);
    tab.onkeydown = ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (!step) return;
      const next = tabNames[(at + step + tabNames.length) % tabNames.length];
      chooseTab(next);
      byId(`tab-${next}`).focus();
    };
  }
}

/** The machines' names in words. */
const titles = new Map();
/** The controls of options. */
const controls = {
  resolution: 'Timer resolution', neighbour: 'A neighbour holds', slack: 'Timer slack', policy: 'Policy', load: 'Load', pace: 'Pace',
  count: 'Values', set: 'Change a figure', like: 'A machine like that of', on: 'Machines', seed: 'Seed', quick: 'Depth quick', thorough: 'Depth thorough',
};

/** A sentence of the engine, which names options and machines as the command does, as this page names them. */
function inOwnWords(sentence) {
  return sentence
    .replaceAll(/ ?`oversleep machines` lists them all/g, ' Choose from the machines on this page')
    .replaceAll(/--([a-z]+)\b/g, (typed, name) => (controls[name] ? `“${controls[name]}”` : typed))
    .replaceAll(/(^|[\s'])([a-z]+(?:-[a-z0-9]+)+)(?=[\s':,.]|$)/g, (all, before, name) => (titles.has(name) ? `${before}${titles.get(name)}` : all));
}
