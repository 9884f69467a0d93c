// The page begins: the controls are filled, and the first question is answered.

async function begin() {
  tabs();
  dropZone();
  listed();
  const given = fromFragment() ?? examples[0][1];
  if (!given.like) askAhead(given);
  const catalogue = await documents.ask({ catalogue: {} });
  const all = catalogue.machines;
  for (const { name, title } of all) titles.set(name, title);
  // Systems with their machines in words; the commands shown have the names.
  const chip = ({ name, title }) => element('label', { title: name }, element('input', { type: 'checkbox', value: name }), title);
  const of = (system) => all.filter((machine) => machine.system === system);
  // The list is long, so a system's machines unfold; which are chosen stands above them.
  byId('machines').replaceChildren(...Object.entries(systems).map(([system, label]) => element('details', { name: 'system' },
    element('summary', {}, `${label}: ${of(system).length}`),
    element('div', { className: 'chips', role: 'group', ariaLabel: label }, ...of(system).map(chip)))));
  byId('checking').elements.on.replaceChildren(...Object.entries(systems).map(([system, label]) => element('optgroup', { label },
    ...of(system).map(({ name, title }) => element('option', { value: name, title: name }, title)))));
  byId('checking').elements.on.value = 'windows-11';
  byId('call').replaceChildren(...calls(catalogue));
  const example = ([title, given]) => element('button', { type: 'button', onclick: () => { restore(given); answerNow(); } }, title);
  byId('examples').replaceChildren(...examples.map(example));
  const embedded = JSON.parse(byId('embedded').textContent);
  dropped.push(...embedded.map(({ name, text: content }) => ({ name, bytes: new TextEncoder().encode(content) })));
  listed();
  restore(given);
  byId('question').addEventListener('input', ({ target }) => {
    if (target.name === 'question') callFromQuestion();
    else if (['call', 'duration'].includes(target.id)) questionFromCall();
    byId('ask-note').textContent = '';
    answerSoon();
  });
  byId('question').addEventListener('submit', (event) => { event.preventDefault(); answerNow(); });
  addEventListener('hashchange', () => { const given = fromFragment(); if (given) { chooseTab('ask'); restore(given); answerNow(); } });
  byId('checking').addEventListener('submit', check);
  byId('checking').addEventListener('input', checkWords);
  byId('checking').elements.on.addEventListener('change', figures);
  byId('cancel').onclick = () => checks.cancel();
  copies(byId('copy'), byId('command'));
  copies(byId('copy-check'), byId('check-command'));
  // A link within the page leaves the question in the address.
  document.querySelector('.skip').onclick = (event) => {
    event.preventDefault();
    chooseTab('ask');
    byId('question').elements.question.focus();
  };
  // Where there is one column, the list of machines would hide the answer.
  byId('choose').open = matchMedia('(min-width: 76rem)').matches;
  if (dropped.length > 0) chooseTab('results');
  await Promise.all([answerNow(), figures(), dropped.length > 0 ? showAll() : undefined]);
}

begin().catch((error) => { byId('ask-error').textContent = `The page can't start: ${error.message}. It needs a browser of 2024 or later.`; });
