// The page: what was dropped, asked and checked. Everything it shows is made by the engine.

const byId = (id) => document.getElementById(id);
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const text = (bytes) => new TextDecoder().decode(bytes);
/** A word as a shell takes it. */
const quoted = (word) => {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  // Every shell understands double quotes, those of Windows too, unless one of these stands between them.
  return /["$`\\!%]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : `"${word}"`;
};
const typed = (words) => ['oversleep', ...words].map(quoted).join(' ');

// The engine, in a worker that is taken anew after a cancel.

const engineCode = byId('engine-code').textContent;
const workerUrl = URL.createObjectURL(new Blob([engineCode, byId('worker').textContent], { type: 'text/javascript' }));
const compiled = WebAssembly.compile(unpacked(byId('engine').textContent));

class Engine {
  #worker;
  #waiting = new Map();
  #next = 0;

  async #started() {
    const module = await compiled;
    if (!this.#worker) {
      this.#worker = new Worker(workerUrl);
      this.#worker.onmessage = ({ data }) => this.#heard(data);
      this.#worker.postMessage({ module });
    }
    return this.#worker;
  }

  #heard({ id, said, done, total }) {
    const one = this.#waiting.get(id);
    if (!one) return;
    if (!said) {
      one.progress?.(done, total);
      return;
    }
    this.#waiting.delete(id);
    one.resolve(said);
  }

  async ask(request, files = [], progress = undefined) {
    const worker = await this.#started();
    this.#next += 1;
    const id = this.#next;
    return new Promise((resolve) => {
      this.#waiting.set(id, { resolve, progress });
      worker.postMessage({ id, request, files });
    });
  }

  run(words, files = [], progress = undefined) {
    const request = { run: { words, files: files.map((file) => file.name) } };
    return this.ask(request, files.map((file) => file.bytes), progress);
  }

  get isBusy() {
    return this.#waiting.size > 0;
  }

  cancel() {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const one of this.#waiting.values()) one.resolve({ error: 'cancelled' });
    this.#waiting.clear();
  }
}

const questions = new Engine();
const checks = new Engine();
/** What is read: results, the catalogue, figures of machines. */
const documents = new Engine();

// What is shown of an answer.

const types = { html: 'text/html', json: 'application/json', svg: 'image/svg+xml', csv: 'text/csv', text: 'text/plain' };

function download(part, name = part.name) {
  const url = URL.createObjectURL(new Blob([part.bytes], { type: types[part.kind] }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * A report in a frame that runs no script, with buttons that save and print its documents. The page may look into the frame,
 * so that the frame is as high as its report.
 */
function shown(title, parts) {
  const page = parts.find((part) => part.kind === 'html');
  const save = (part) => element('button', { type: 'button', onclick: () => download(part) }, `Save ${part.name}`);
  const buttons = parts.filter((part) => part.kind !== 'svg').map(save);
  const pictures = parts.filter((part) => part.kind === 'svg');
  if (pictures.length > 0) {
    const all = () => pictures.forEach((part) => download(part));
    buttons.push(element('button', { type: 'button', onclick: all }, `Save ${pictures.length} pictures`));
  }
  // Links lead within the report, or out into a tab of their own.
  const html = text(page.bytes).replaceAll(/(<a [^>]*href=")#/g, '$1about:srcdoc#')
    .replaceAll(/<a ([^>]*href="https:)/g, '<a target="_blank" rel="noopener" $1');
  const frame = element('iframe', { title, srcdoc: html });
  frame.setAttribute('sandbox', 'allow-same-origin allow-modals allow-popups allow-popups-to-escape-sandbox');
  frame.onload = () => {
    if (!frame.contentDocument?.body) return;
    const fitted = () => { frame.style.height = `${frame.contentDocument.documentElement.scrollHeight + 2}px`; };
    // What is dropped on a report is meant for the page.
    frame.contentDocument.addEventListener('dragover', (event) => event.preventDefault());
    frame.contentDocument.addEventListener('drop', (event) => { event.preventDefault(); added([...(event.dataTransfer?.files ?? [])]); });
    new ResizeObserver(fitted).observe(frame.contentDocument.body);
    fitted();
  };
  buttons.push(element('button', { type: 'button', onclick: () => frame.contentWindow.print() }, `Print the ${title.split(' ')[0].toLowerCase()}`));
  const printed = element('p', { className: 'printed' }, `${title}: print it with its own button.`);
  return element('div', {}, element('div', { className: 'row' }, ...buttons), printed, frame);
}

// Results.

const dropped = [];

function listed() {
  const without = (file) => {
    dropped.splice(dropped.indexOf(file), 1);
    listed();
    showAll();
  };
  const item = (file) => element('li', {}, `${file.name} `, element('span', { className: 'soft' }, `${Math.ceil(file.bytes.length / 1024)} KB `),
    element('button', { type: 'button', ariaLabel: `Remove ${file.name}`, onclick: () => without(file) }, '×'));
  byId('dropped').replaceChildren(...dropped.map(item));
  byId('results-do').hidden = dropped.length === 0;
  byId('show-comparison').disabled = dropped.length < 2;
  byId('show-table').disabled = dropped.length < 2;
  for (const { elements: { like } } of [byId('question'), byId('checking')]) {
    const before = like.value;
    like.replaceChildren(new Option('no result', ''), ...dropped.map(({ name }) => new Option(name, name)));
    like.value = dropped.some(({ name }) => name === before) ? before : '';
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

async function several(command, title, unread = '') {
  showing += 1;
  const mine = showing;
  const said = await documents.run([command, '--', ...dropped.map((file) => file.name)], dropped);
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
    else if (!fields.includes(event.target.tagName) && pasted.trim().startsWith('{')) {
      added([new File([pasted], 'pasted.json')]);
    }
  });
  byId('show-reports').onclick = () => reports();
  byId('show-comparison').onclick = () => several('compare', 'Comparison');
  byId('show-table').onclick = () => several('report', 'Machines');
  byId('forget').onclick = () => {
    dropped.length = 0;
    listed();
    showAll();
  };
}

// Questions.

/** Questions that people have published, with the machines that they were about. */
const examples = [
  ['1 ms of sleep, by system', { question: 'sleep(1ms)', on: ['windows-11', 'linux-hz250', 'macos-14-m1'] }],
  ['A neighbour raised the timer', { question: 'sleep(1ms)', on: ['windows-10-1909', 'windows-10-2004'], neighbour: '1ms' }],
  ['parkNanos(55 µs)', { question: 'parkNanos(55us)', on: ['windows-10-1909', 'linux-hz250'] }],
  ['epoll_wait of 1.2 ms', { question: 'epoll-wait(1200us)', on: ['linux-hz250'] }],
  ['Half a millisecond', { question: 'sleep(1ms)', on: ['windows-11'], resolution: '500us' }],
  ['A fork-join of "16 ms"', { question: 'forkjoin(blocked)', on: ['windows-11', 'linux-hz250'] }],
  ['What a coarse clock shows', { question: 'step(tick-count-64)', on: ['windows-10-1909'] }],
  ['Timer slack', { question: 'nanosleep(1ms)', on: ['linux-hz250'], slack: '1ns' }],
];
const conditions = ['resolution', 'neighbour', 'slack', 'policy', 'load', 'pace', 'count', 'set', 'like'];

const chosen = () => [...document.querySelectorAll('#machines input:checked')].map((box) => box.value);

function state() {
  const fields = byId('question').elements;
  const values = conditions.map((name) => [name, fields[name].value.trim()]);
  return { question: fields.question.value.trim(), on: chosen(), ...Object.fromEntries(values) };
}

function restore(given) {
  const fields = byId('question').elements;
  fields.question.value = given.question ?? '';
  for (const name of conditions) fields[name].value = given[name] ?? '';
  for (const box of document.querySelectorAll('#machines input')) box.checked = (given.on ?? []).includes(box.value);
  callFromQuestion();
  if (conditions.some((name) => given[name])) document.querySelector('#question details').open = true;
}

// A call and its duration write the question, and follow it as it is typed.

/** What the question names, if it is one wait of one duration. */
const aWait = () => byId('question').elements.question.value.trim().match(/^([^\s()]+)\(([\d.]+\s*[a-zµ]+)\)$/i);

function callFromQuestion() {
  const [, call, duration] = aWait() ?? [];
  byId('call').value = call ?? '';
  byId('duration').value = duration ?? '';
}

function questionFromCall() {
  const call = byId('call').value;
  if (call) byId('question').elements.question.value = call.includes('(') ? call : `${call}(${byId('duration').value.trim() || '1ms'})`;
}

/** Calls in groups: those that every system has under that name, those of one system, those of the runtimes, the rest. */
function calls({ machines, runtimes }) {
  const systems = { linux: 'Linux', windows: 'Windows', macos: 'macOS' };
  const bySystem = new Map();
  for (const { system, waits } of machines) {
    for (const { name } of waits) bySystem.set(name, (bySystem.get(name) ?? new Set()).add(system));
  }
  const group = (label, values) => element('optgroup', { label }, ...[...new Set(values)].map((value) => new Option(value)));
  const waits = (fits) => [...bySystem].filter(([, on]) => fits(on)).map(([name]) => name).sort();
  return [
    new Option('as typed', ''),
    group('Waits of several systems', ['sleep', ...waits((on) => on.size > 1)]),
    ...Object.entries(systems).map(([system, label]) => group(`Waits of ${label}`, waits((on) => on.size === 1 && on.has(system)).filter((name) => name !== 'sleep'))),
    ...[...new Set(runtimes.map(({ runtime }) => runtime))].map((label) => group(`Calls of ${label}`, runtimes.filter(({ runtime }) => runtime === label).map(({ name }) => name))),
    group('More questions', ['forkjoin(blocked)', 'forkjoin(polling)', 'resolution()']),
  ];
}

function wordsOf({ question, on, ...rest }) {
  const options = conditions.filter((name) => rest[name]).flatMap((name) => [`--${name}`, rest[name]]);
  // Several questions are separated by spaces outside of their parentheses.
  const machines = on.length > 0 ? ['--on', on.join(',')] : [];
  return ['ask', ...question.split(/\s+(?![^(]*\))/).filter(Boolean), ...machines, ...options];
}

function fragmentOf({ on, ...rest }) {
  const given = Object.entries(rest).filter(([, value]) => value);
  return new URLSearchParams([...given, ['on', on.join(',')]]).toString();
}

function fromFragment() {
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  return given.question ? { ...given, on: (given.on ?? '').split(',').filter(Boolean) } : undefined;
}

let latest = 0;

async function answerNow() {
  const asked = state();
  const words = wordsOf(asked);
  byId('command').textContent = typed(words);
  history.replaceState(null, '', `#${fragmentOf(asked)}`);
  latest += 1;
  const mine = latest;
  if ((asked.on.length === 0 && !asked.like) || !asked.question) {
    byId('ask-error').textContent = 'Choose a machine and type a question, like sleep(1ms).';
    byId('answer').replaceChildren();
    return;
  }
  // A long question is given up for the next one.
  if (questions.isBusy) questions.cancel();
  byId('answer').ariaBusy = 'true';
  const said = await questions.run(words, dropped.filter(({ name }) => name === asked.like));
  if (mine !== latest) return;
  byId('answer').ariaBusy = 'false';
  byId('ask-error').textContent = said.error ?? '';
  if (said.error) {
    byId('answer').replaceChildren();
    return;
  }
  const parser = new DOMParser();
  const svg = (part) => document.importNode(parser.parseFromString(text(part.bytes), 'image/svg+xml').documentElement, true);
  const pictures = said.parts.filter((part) => part.kind === 'svg').map(svg);
  const plain = text(said.parts.find((part) => part.kind === 'text').bytes).replaceAll(/\u001b\[[0-9;]*m/g, '');
  const words_ = element('details', { open: pictures.length === 0 }, element('summary', {}, 'As the command prints it'), element('pre', {}, plain));
  byId('answer').replaceChildren(...pictures, words_);
  document.documentElement.dataset.answered = String(mine);
}

let soon;
function answerSoon() {
  clearTimeout(soon);
  soon = setTimeout(answerNow, 100);
}

function copies(button, from) {
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(from.textContent);
      button.textContent = 'Copied';
    } catch {
      const range = document.createRange();
      range.selectNodeContents(from);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  };
}

// Checks.

const changed = new Map();

function checkWords() {
  const fields = byId('checking').elements;
  const words = ['check', ...(fields.like.value ? ['--like', fields.like.value] : ['--on', fields.on.value])];
  if (fields.depth.value) words.push(fields.depth.value);
  for (const name of ['load', 'seed']) if (fields[name].value.trim()) words.push(`--${name}`, fields[name].value.trim());
  // The figures shown are those of the machine that is chosen.
  if (!fields.like.value) for (const [key, value] of changed) words.push('--set', `${key}=${value}`);
  byId('figures').parentElement.hidden = fields.like.value !== '';
  fields.on.disabled = fields.like.value !== '';
  byId('check-command').textContent = typed(words);
  return words;
}

async function figures() {
  changed.clear();
  const said = await documents.ask({ figures: { machine: byId('checking').elements.on.value } });
  const row = ({ key, value, means, source }) => {
    const input = element('input', { placeholder: value, spellcheck: false, ariaLabel: key });
    input.oninput = () => {
      if (input.value.trim()) changed.set(key, input.value.trim());
      else changed.delete(key);
      checkWords();
    };
    const about = element('td', {}, means, element('br'), element('span', { className: 'soft' }, source));
    return element('tr', {}, element('td', {}, element('code', {}, key), element('br'), input), about);
  };
  const rows = (said.figures ?? []).map(row);
  byId('figures').replaceChildren(element('table', {}, element('tbody', {}, ...rows)));
  byId('find-figure').oninput = ({ target }) => {
    for (const one of rows) one.hidden = !one.textContent.toLowerCase().includes(target.value.toLowerCase());
  };
  checkWords();
}

let checking = 0;

async function check(event) {
  event.preventDefault();
  if (checks.isBusy) checks.cancel();
  checking += 1;
  const mine = checking;
  const words = checkWords();
  const bar = byId('progress');
  byId('check-error').textContent = '';
  byId('cancel').disabled = false;
  bar.value = 0;
  const said = await checks.run(words, dropped, (done, total) => { bar.value = total > 0 ? done / total : 0; });
  if (mine !== checking) return;
  byId('cancel').disabled = true;
  bar.value = said.error ? 0 : 1;
  byId('check-error').textContent = said.error ?? '';
  byId('checked').replaceChildren(...(said.error ? [] : [shown('Report of the check', said.parts)]));
  document.documentElement.dataset.checked = words.join(' ');
}

async function begin() {
  dropZone();
  listed();
  const catalogue = await documents.ask({ catalogue: {} });
  const all = catalogue.machines;
  const chip = ({ name, title }) => element('label', { title }, element('input', { type: 'checkbox', value: name }), name);
  byId('machines').replaceChildren(...all.map(chip));
  byId('checking').elements.on.replaceChildren(...all.map(({ name, title }) => element('option', { value: name, title }, name)));
  byId('checking').elements.on.value = 'windows-11';
  byId('call').replaceChildren(...calls(catalogue));
  const example = ([title, given]) => element('button', { type: 'button', onclick: () => { restore(given); answerNow(); } }, title);
  byId('examples').replaceChildren(...examples.map(example));
  const embedded = JSON.parse(byId('embedded').textContent);
  dropped.push(...embedded.map(({ name, text: content }) => ({ name, bytes: new TextEncoder().encode(content) })));
  listed();
  restore(fromFragment() ?? examples[0][1]);
  byId('question').addEventListener('input', ({ target }) => {
    if (target.name === 'question') callFromQuestion();
    else if (['call', 'duration'].includes(target.id)) questionFromCall();
    answerSoon();
  });
  byId('question').addEventListener('submit', (event) => { event.preventDefault(); answerNow(); });
  addEventListener('hashchange', () => { const given = fromFragment(); if (given) { restore(given); answerNow(); } });
  byId('checking').addEventListener('submit', check);
  byId('checking').addEventListener('input', checkWords);
  byId('checking').elements.on.addEventListener('change', figures);
  byId('cancel').onclick = () => checks.cancel();
  copies(byId('copy'), byId('command'));
  copies(byId('copy-check'), byId('check-command'));
  // A link within the page leaves the question in the address.
  for (const link of document.querySelectorAll('nav a, .skip')) {
    link.onclick = (event) => {
      event.preventDefault();
      const section = document.querySelector(link.hash);
      section.scrollIntoView();
      section.querySelector('input, button, select')?.focus({ preventScroll: true });
    };
  }
  await Promise.all([answerNow(), figures(), dropped.length > 0 ? showAll() : undefined]);
}

begin().catch((error) => { byId('ask-error').textContent = `The page can't start: ${error.message}. It needs a browser of 2024 or later.`; });
