// The answer to the question, drawn anew as it changes.

let latest = 0;

/** The first question, asked and answered while the controls are still to be filled. */
let ahead;
async function askAhead(given) {
  const words = wordsOf(given);
  const said = questions.run(words);
  ahead = { command: typed(words), said };
  const { parts } = await said;
  if (latest > 0 || !parts) return;
  drawn(parts);
  document.documentElement.dataset.answered = '0';
}

async function answerNow() {
  const asked = state();
  const words = wordsOf(asked);
  showCommand(byId('command'), words);
  byId('chosen').textContent = asked.on.map((name) => titles.get(name) ?? name).join('; ') || 'none';
  latest += 1;
  const mine = latest;
  const busy = (is) => { for (const name of ['answer', 'ask-error']) byId(name).ariaBusy = String(is); };
  if ((asked.on.length === 0 && !asked.like) || !asked.question) {
    if (questions.isBusy) questions.cancel();
    busy(false);
    byId('ask-error').textContent = 'Choose a machine and type a question, like sleep(1ms).';
    byId('answer').replaceChildren();
    return;
  }
  history.replaceState(null, '', `#${fragmentOf(asked)}`);
  // A long question is given up for the next one.
  const first = ahead?.command === typed(words) ? ahead.said : undefined;
  ahead = undefined;
  if (questions.isBusy && !first) questions.cancel();
  busy(true);
  const said = await (first ?? questions.run(words, dropped.filter(({ name }) => name === asked.like)));
  if (mine !== latest) return;
  busy(false);
  byId('ask-error').textContent = inOwnWords(said.error ?? '');
  if (said.error) {
    byId('answer').replaceChildren();
    return;
  }
  drawn(said.parts);
  document.documentElement.dataset.answered = String(mine);
}

/** Pictures, what the command prints, and buttons that save both. */
function drawn(parts) {
  const parser = new DOMParser();
  const svg = (part) => document.importNode(parser.parseFromString(text(part.bytes), 'image/svg+xml').documentElement, true);
  const pictures = parts.filter((part) => part.kind === 'svg').map(svg);
  // The report has each picture in a narrow form, too, which the style sheet shows where there is no room.
  const report = parser.parseFromString(text(parts.find((part) => part.kind === 'html').bytes), 'text/html');
  const narrow = [...report.querySelectorAll('.form-narrow svg')].map((drawn, i) => {
    const title = pictures[i]?.querySelector('title')?.textContent ?? '';
    drawn.removeAttribute('aria-labelledby');
    drawn.ariaLabel = title;
    return element('div', { className: 'narrow' }, element('p', { ariaHidden: 'true' }, title), document.importNode(drawn, true));
  });
  // What helps stands beneath the tables of the report, a paragraph for each machine.
  const told = [...report.querySelectorAll('p.quiet.any')].map(({ textContent }) => textContent);
  const helps = told.filter((said) => said.startsWith('Helps on ')).map((said) => element('p', {}, said));
  const plain = text(parts.find((part) => part.kind === 'text').bytes).replaceAll(/\u001b\[[0-9;]*m/g, '');
  const printed = element('details', { open: pictures.length === 0 }, element('summary', {}, 'As the command prints it'), element('pre', {}, plain));
  byId('answer').replaceChildren(...pictures, ...narrow, ...helps, printed, element('div', { className: 'row' }, ...saves(parts)));
}

let soon;
function answerSoon() {
  clearTimeout(soon);
  soon = setTimeout(answerNow, 100);
}
