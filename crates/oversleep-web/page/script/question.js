// The question that the controls hold, as a command line and as the fragment of the address.

/** Questions that people have published, with the machines that they were about. */
const examples = [
  ['1 ms of sleep, by system', { question: 'sleep(1ms)', on: ['windows-11', 'linux-hz250', 'macos-14-m1'] }],
  ['A neighbour raised the timer', { question: 'sleep(1ms)', on: ['windows-10-1909', 'windows-10-2004'], neighbour: '1ms' }],
  ['parkNanos(55 µs)', { question: 'parkNanos(55us)', on: ['windows-10-1909', 'linux-hz250'] }],
  ['epoll_wait of 1.2 ms', { question: 'epoll-wait(1200us)', on: ['linux-hz250'] }],
  ['Half a millisecond', { question: 'sleep(1ms)', on: ['windows-11'], resolution: '500us' }],
  ['A fork-join of "16 ms"', { question: 'forkjoin(blocked)', on: ['windows-11', 'linux-hz250'] }],
  ['What a coarse clock shows', { question: 'step(get-tick-count-64)', on: ['windows-10-1909'] }],
  ['Timer slack', { question: 'nanosleep(1ms)', on: ['linux-hz250'], slack: '1ns' }],
];
const conditions = ['resolution', 'neighbour', 'slack', 'policy', 'load', 'pace', 'count', 'set', 'like'];

const chosen = () => [...document.querySelectorAll('#machines input:checked')].map((box) => box.value);

function state() {
  const fields = byId('question').elements;
  const values = conditions.map((name) => [name, fields[name].value.trim()]);
  return { question: fields.question.value.trim(), on: chosen(), ...Object.fromEntries(values) };
}

/** Sets the controls, and says what a link holds that this page doesn't have. */
function restore(given) {
  const fields = byId('question').elements;
  const boxes = [...document.querySelectorAll('#machines input')];
  fields.question.value = given.question ?? '';
  for (const name of conditions) fields[name].value = given[name] ?? '';
  for (const box of boxes) box.checked = (given.on ?? []).includes(box.value);
  const machines = (given.on ?? []).filter((name) => !boxes.some(({ value }) => value === name));
  const { question, on, ...rest } = given;
  const other = Object.entries(rest).filter(([name, value]) => value && fields[name]?.value !== value);
  const left = (why) => `${why}. The answer leaves it out.\n`;
  byId('ask-note').textContent = machines.map((name) => left(`The link names '${name}', a machine that this page doesn't have`)).join('')
    + other.map(([name, value]) => (name === 'like'
      ? left(`The link asks the machine of '${value}'; drop that file on the page and open the link again`)
      : left(`The link says ${name}=${value}, which this page has no control for`))).join('');
  callFromQuestion();
  if (conditions.some((name) => given[name])) byId('conditions').open = true;
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

const systems = { windows: 'Windows', linux: 'Linux', macos: 'macOS' };

/** Calls in groups: those that every system has under that name, those of one system, those of the runtimes, the rest. */
function calls({ machines, runtimes }) {
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

/** An option and its value, which may begin as an option does. */
const option = (name, value) => (value.startsWith('-') ? [`--${name}=${value}`] : [`--${name}`, value]);

function wordsOf({ question, on, ...rest }) {
  const options = conditions.filter((name) => rest[name]).flatMap((name) => option(name, rest[name]));
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
