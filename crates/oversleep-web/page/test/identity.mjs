// node identity.mjs PAGE COMMAND GOLDEN [--all]: every answer of the page is the command's, byte for byte: checks of
// modelled machines, questions of every form, reports and comparisons of stored results. With --all it checks all machines,
// and one per system thoroughly.

import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { engineOf } from './engine.mjs';

const args = process.argv.slice(2);
const isAll = args.includes('--all');
const [page, command, golden] = args.filter((arg) => arg !== '--all').map((name) => path.resolve(name));
const engine = await engineOf(page);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'page-'));
process.chdir(scratch);
let compared = 0;
let wrong = 0;
const times = {};

function same(what, ours, theirs) {
  compared += 1;
  if (ours && Buffer.compare(Buffer.from(ours), Buffer.from(theirs)) === 0) return;
  wrong += 1;
  const at = ours ? Buffer.from(ours).findIndex((byte, i) => byte !== theirs[i]) : 0;
  const near = (bytes) => Buffer.from(bytes ?? '').subarray(Math.max(0, at - 60), at + 60).toString();
  console.log(`${what} differs at byte ${at}:\n  here ${near(ours)}\n  command ${near(theirs)}`);
}

function timed(kind, run) {
  const began = performance.now();
  const result = run();
  (times[kind] ??= []).push(performance.now() - began);
  if (result.error) console.log(result.error);
  return result;
}

const part = (said, kind) => said.parts?.find((one) => one.kind === kind)?.bytes;
/** What the command does with these words; exit code 4 says that nothing could be concluded. */
function native(...words) {
  const { status, stderr } = spawnSync(command, words, { cwd: scratch });
  if (status !== 0 && status !== 4) throw new Error(`${words.join(' ')}: ${status} ${stderr}`);
}

engine.conformance();

const { machines } = engine.ask({ catalogue: {} });
const perSystem = ['linux-hz250', 'windows-10-1909', 'windows-10-2004', 'windows-11', 'macos-14-m1', 'wsl1'];
const thorough = ['linux-hz250', 'windows-11', 'macos-14-m1'];
for (const { name } of machines.filter(({ name: one }) => isAll || perSystem.includes(one))) {
  for (const depth of ['', ...(isAll && thorough.includes(name) ? ['--thorough'] : [])]) {
    const words = ['check', '--on', name, ...(depth ? [depth] : [])];
    native(...words, '--quiet', '--out', 'r.json', '--html', 'r.html');
    const said = timed(`check ${depth}`, () => engine.run(words));
    same(`${words.join(' ')}: result`, part(said, 'json'), fs.readFileSync('r.json'));
    same(`${words.join(' ')}: page`, part(said, 'html'), fs.readFileSync('r.html'));
    if (!depth) fs.copyFileSync('r.json', `${name}.json`);
  }
}

fs.copyFileSync(path.join(golden, 'v2/everything.json'), 'everything.json');

const questions = [
  ['sleep(1ms)', '--on', machines.map(({ name }) => name).filter((name) => name.startsWith('windows')).join(',')],
  ['nanosleep(1ms)', 'cost(monotonic)', 'step(monotonic-coarse)', '--on', 'linux-hz250,linux-hpet'],
  ['sleep(1ms)', '--on', 'windows-10-1909,windows-10-2004', '--neighbour', '1ms'],
  ['sleep(1ms)', '--on', 'windows-11', '--resolution', '500us', '--count', '5000', '--pace', 'periodic'],
  ['parkNanos(55us)', 'Thread.sleep(1500us)', '--on', 'windows-10-1909,linux-hz250'],
  ['forkjoin(blocked)', 'forkjoin(polling)', '--on', 'windows-11,linux-hz250'],
  ['yield(sched-yield)', '--on', 'linux-hz250', '--load', 'spin:4'],
  ['resolution()', '--on', 'windows-7', '--set', 'tick=10ms'],
  ['nanosleep(1ms)', '--on', 'linux-hz250', '--policy', 'fifo:50', '--slack', '1ns', '--seed', '7'],
  ['nanosleep(1ms)', '--like', 'everything.json'],
];
for (const words of questions) {
  const files = words.filter((word) => word.endsWith('.json')).map((name) => ({ name, bytes: fs.readFileSync(name) }));
  const theirs = execFileSync(command, ['ask', ...words, '--json'], { maxBuffer: 1 << 28 });
  same(`ask ${words.join(' ')}`, part(timed('ask', () => engine.run(['ask', ...words], files)), 'json'), theirs);
}

for (const version of fs.readdirSync(golden)) {
  for (const name of fs.readdirSync(path.join(golden, version)).filter((file) => file.endsWith('.json'))) {
    const bytes = fs.readFileSync(path.join(golden, version, name));
    const stored = `${version}-${name}`;
    fs.writeFileSync(stored, bytes);
    const { status, stderr } = spawnSync(command, ['report', stored, '--quiet', '--html', 'r.html']);
    const said = timed('report', () => engine.run(['report', stored], [{ name: stored, bytes }]));
    if (status === 0) same(`report ${stored}`, part(said, 'html'), fs.readFileSync('r.html'));
    else same(`report ${stored}: error`, Buffer.from(`error: can't use '${stored}': ${(said.error ?? '').split(': ').slice(1).join(': ')}`), stderr.subarray(0, stderr.length - 1));
  }
}

// Results and recordings of `why`.
const recording = fs.readFileSync(path.join(golden, '../../crates/oversleep-why/tests/recorded/fifo.why'));
fs.writeFileSync('r.why', recording);
native('why', 'r.why', '--quiet', '--out', 'why.json', '--html', 'why.html');
const why = fs.readFileSync('why.json');
for (const [name, bytes] of [['r.why', recording], ['why.json', why]]) {
  const said = timed('report why', () => engine.run(['report', name], [{ name, bytes }]));
  same(`report ${name}: page`, part(said, 'html'), fs.readFileSync('why.html'));
  same(`report ${name}: result`, part(said, 'json'), why);
}
{
  const names = ['r.why', 'why.json'];
  native('compare', ...names, '--html', 'r.html', '--json=r.json');
  const said = engine.run(['compare', ...names], [{ name: 'r.why', bytes: recording }, { name: 'why.json', bytes: why }]);
  same('compare why: page', part(said, 'html'), fs.readFileSync('r.html'));
  same('compare why: document', part(said, 'json'), fs.readFileSync('r.json'));
}

const pairs = [['windows-10-1909.json', 'windows-10-2004.json'], ['linux-hz250.json', 'windows-11.json', 'macos-14-m1.json']];
for (const names of pairs) {
  native('compare', ...names, '--html', 'r.html', '--json=r.json');
  const files = names.map((name) => ({ name, bytes: fs.readFileSync(name) }));
  const said = timed('compare', () => engine.run(['compare', ...names], files));
  same(`compare ${names.join(' ')}: page`, part(said, 'html'), fs.readFileSync('r.html'));
  same(`compare ${names.join(' ')}: document`, part(said, 'json'), fs.readFileSync('r.json'));
}

fs.rmSync(scratch, { recursive: true });
for (const [kind, all] of Object.entries(times)) {
  const sorted = all.sort((a, b) => a - b);
  console.log(`${kind}: ${sorted.length} times, ${sorted[0].toFixed(0)} to ${sorted.at(-1).toFixed(0)} ms`);
}
console.log(`${compared} documents compared, ${wrong} differ`);
process.exitCode = wrong === 0 ? 0 : 1;
