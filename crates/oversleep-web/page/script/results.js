// Files that were dropped, chosen, pasted or embedded: their reports and comparisons.

const dropped = [];

function listed() {
  const without = (file) => {
    dropped.splice(dropped.indexOf(file), 1);
    listed();
    (byId('dropped').querySelector('button') ?? byId('files')).focus();
    showAll();
  };
  const item = (file) => element('li', {}, `${file.name} `, element('span', { className: 'soft' }, `${Math.ceil(file.bytes.length / 1024)} KB `),
    element('button', { type: 'button', ariaLabel: `Remove ${file.name}`, onclick: () => without(file) }, '×'));
  byId('dropped').replaceChildren(...dropped.map(item));
  byId('results-do').hidden = dropped.length === 0;
  byId('asserting').hidden = dropped.length === 0;
  byId('show-comparison').disabled = dropped.length < 2;
  byId('show-table').disabled = dropped.length < 2;
  for (const { elements: { like } } of [byId('question'), byId('checking')]) {
    const before = like.value;
    like.replaceChildren(new Option('no result', ''), ...dropped.map(({ name }) => new Option(name, name)));
    like.value = dropped.some(({ name }) => name === before) ? before : '';
    // The machine of that file can't be asked any more.
    if (before && !like.value) answerSoon();
  }
  checkWords();
}

function named(name) {
  const taken = new Set(dropped.map((file) => file.name));
  for (let i = 2, free = name; ; i += 1) {
    if (!taken.has(free)) return free;
    free = name.replace(/(\.json)?$/i, ` (${i})$1`);
  }
}

async function added(files) {
  let unread = '';
  for (const file of files) {
    try {
      dropped.push({ name: named(file.name || 'pasted.json'), bytes: new Uint8Array(await file.arrayBuffer()) });
    } catch (error) {
      // A folder, for one, or more than the browser takes.
      unread += `This browser can't read ${file.name}: ${error.message}\n`;
    }
  }
  listed();
  chooseTab('results');
  await showAll(unread);
}

/** What is there: nothing, a report, a comparison; reports of the others where one can't be used. */
async function showAll(unread = '') {
  if (dropped.length > 1) await several('compare', 'Comparison', unread);
  else await reports(unread);
}

/** The newest of what was to be shown; what comes later than the next is left. */
let showing = 0;

/** Each report; `otherwise` is said where every file can be used, because reports say themselves which can't. */
async function reports(unread = '', otherwise = '') {
  showing += 1;
  const mine = showing;
  let errors = '';
  const frames = [];
  for (const file of [...dropped]) {
    const said = await documents.run(['report', '--', file.name], [file]);
    if (said.error) errors += `${said.error}\n`;
    else frames.push(shown(`Report of ${file.name}`, said.parts));
  }
  if (mine !== showing) return;
  byId('results-error').textContent = unread + (errors || otherwise);
  byId('results-shown').replaceChildren(...frames);
}

/** What a command says of all files; `more` follows their names. */
async function several(command, title, unread = '', more = []) {
  showing += 1;
  const mine = showing;
  const said = await documents.run([command, '--', ...dropped.map((file) => file.name), ...more], dropped);
  if (mine !== showing) return;
  if (said.error) {
    await reports(unread, `${said.error}\n`);
    return;
  }
  byId('results-error').textContent = unread;
  byId('results-shown').replaceChildren(shown(title, said.parts));
}

function dropZone() {
  const zone = byId('drop');
  const files = (event) => [...(event.dataTransfer?.files ?? [])];
  for (const name of ['dragover', 'drop']) document.addEventListener(name, (event) => event.preventDefault());
  document.addEventListener('dragover', () => zone.classList.add('over'));
  document.addEventListener('dragleave', () => zone.classList.remove('over'));
  document.addEventListener('drop', (event) => {
    zone.classList.remove('over');
    added(files(event));
  });
  byId('files').addEventListener('change', (event) => added([...event.target.files]));
  document.addEventListener('paste', (event) => {
    const pasted = event.clipboardData?.getData('text') ?? '';
    const fields = ['INPUT', 'TEXTAREA', 'SELECT'];
    if (event.clipboardData?.files.length) added([...event.clipboardData.files]);
    else if (!fields.includes(event.target.tagName) && pasted.trim()) {
      added([new File([pasted], 'pasted.json')]);
    }
  });
  byId('show-reports').onclick = () => reports();
  byId('show-comparison').onclick = () => several('compare', 'Comparison');
  byId('show-table').onclick = () => several('report', 'Machines');
  byId('asserting').addEventListener('submit', (event) => {
    event.preventDefault();
    several('assert', 'Verdicts', '', [event.target.elements.assertion.value]);
  });
  byId('forget').onclick = () => {
    dropped.length = 0;
    listed();
    showAll();
  };
}
