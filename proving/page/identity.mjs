// node identity.mjs PAGE COMMAND GOLDEN [--sample]: every answer of the page is the command's, byte for byte: checks of all
// modelled machines, one per system thoroughly, questions of every form, reports, comparisons and verdicts of stored results
// and of other programs' files. With --sample it checks one machine per system. The work is shared among workers, one for
// each CPU.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { engineOf, engineWith } from './engine.mjs';
import { formsOf, thorough } from './questions.mjs';

const part = (said, kind) => said.parts?.find((one) => one.kind === kind)?.bytes;

/** One worker's comparisons; `scratch` is shared, `own` is not. */
class Comparing {
  constructor({ command, scratch, engine }) {
    Object.assign(this, { command, scratch, engine, compared: 0, wrong: 0, log: [], times: {} });
    this.own = fs.mkdtempSync(path.join(scratch, 'own-'));
  }

  same(what, ours, theirs) {
    this.compared += 1;
    if (ours && Buffer.compare(Buffer.from(ours), Buffer.from(theirs)) === 0) return;
    this.wrong += 1;
    const at = ours ? Buffer.from(ours).findIndex((byte, i) => byte !== theirs[i]) : 0;
    const near = (bytes) => Buffer.from(bytes ?? '').subarray(Math.max(0, at - 60), at + 60).toString();
    this.log.push(`${what} differs at byte ${at}:\n  here ${near(ours)}\n  command ${near(theirs)}`);
  }

  /** What the page answers; the files are those of the shared directory. */
  page(kind, words, names = []) {
    const files = names.map((name) => ({ name, bytes: fs.readFileSync(path.join(this.scratch, name)) }));
    const began = performance.now();
    const said = this.engine.run(words, files);
    (this.times[kind] ??= []).push(performance.now() - began);
    return said;
  }

  /** What the command does with these words; exit code 4 says that nothing could be concluded. */
  native(...words) {
    const { status, stdout, stderr } = spawnSync(this.command, words, { cwd: this.scratch, maxBuffer: 1 << 28 });
    if (status !== 0 && status !== 4) throw new Error(`${words.join(' ')}: ${status} ${stderr}`);
    return stdout;
  }

  written(name) {
    return fs.readFileSync(path.join(this.own, name));
  }

  check({ machine, depth }) {
    const words = ['check', '--on', machine, ...(depth ? [depth] : [])];
    const [json, html] = ['r.json', 'r.html'].map((name) => path.join(this.own, name));
    this.native(...words, '--quiet', '--out', json, '--html', html);
    const said = this.page(`check ${depth}`.trim(), words);
    this.same(`${words.join(' ')}: result`, part(said, 'json'), this.written('r.json'));
    this.same(`${words.join(' ')}: page`, part(said, 'html'), this.written('r.html'));
    if (!depth) fs.copyFileSync(json, path.join(this.scratch, `${machine}.json`));
  }

  ask({ words }) {
    const files = words.filter((word) => word.endsWith('.json'));
    const said = this.page('ask', ['ask', ...words], files);
    const what = `ask ${words.join(' ')}`;
    // What the command refuses, the page refuses in the same words.
    const { status, stdout, stderr } =
      spawnSync(this.command, ['ask', ...words, '--json'], { cwd: this.scratch, maxBuffer: 1 << 28 });
    if (status === 0) this.same(what, part(said, 'json'), stdout);
    else this.same(`${what}: error`, Buffer.from(`error: ${said.error}`), Buffer.from(stderr.toString().trimEnd()));
  }

  report({ name }) {
    const html = path.join(this.own, 'r.html');
    const { status, stderr } =
      spawnSync(this.command, ['report', name, '--quiet', '--html', html], { cwd: this.scratch });
    const said = this.page('report', ['report', name], [name]);
    if (status === 0) this.same(`report ${name}`, part(said, 'html'), this.written('r.html'));
    else {
      const why = (said.error ?? '').split(': ').slice(1).join(': ');
      this.same(`report ${name}: error`, Buffer.from(`error: can't use '${name}': ${why}`), stderr.subarray(0, stderr.length - 1));
    }
  }

  why({ name }) {
    const said = this.page('report why', ['report', name], [name]);
    const theirs = (file) => fs.readFileSync(path.join(this.scratch, file));
    this.same(`report ${name}: page`, part(said, 'html'), theirs('why.html'));
    this.same(`report ${name}: result`, part(said, 'json'), theirs('why.json'));
  }

  compare({ names }) {
    const [html, json] = ['r.html', 'r.json'].map((name) => path.join(this.own, name));
    this.native('compare', ...names, '--html', html, `--json=${json}`);
    const said = this.page('compare', ['compare', ...names], names);
    this.same(`compare ${names.join(' ')}: page`, part(said, 'html'), this.written('r.html'));
    this.same(`compare ${names.join(' ')}: document`, part(said, 'json'), this.written('r.json'));
  }

  assert({ name, assertions }) {
    const json = path.join(this.own, 'r.json');
    const { status, stderr } = spawnSync(this.command, ['assert', name, ...assertions, `--json=${json}`], { cwd: this.scratch });
    if (![0, 3, 4].includes(status)) throw new Error(`assert ${name}: ${status} ${stderr}`);
    const said = this.page('assert', ['assert', name, ...assertions], [name]);
    this.same(`assert ${name} ${assertions.join(' ')}`, part(said, 'json'), this.written('r.json'));
  }

  conformance() {
    this.engine.conformance();
  }
}

/** Has the workers do all jobs; the next goes to whoever is free. */
async function done(workers, jobs) {
  const left = [...jobs];
  await Promise.all(workers.map((worker) => new Promise((resolve, reject) => {
    const next = () => (left.length > 0 ? worker.postMessage(left.shift()) : resolve());
    worker.removeAllListeners();
    worker.on('message', next);
    worker.on('error', reject);
    next();
  })));
}

async function main() {
  const args = process.argv.slice(2);
  const isSample = args.includes('--sample');
  const [page, command, golden] = args.filter((arg) => arg !== '--sample').map((name) => path.resolve(name));
  const engine = await engineOf(page);
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'page-'));
  const workers = Array.from({ length: os.availableParallelism() }, () =>
    new Worker(new URL(import.meta.url), { workerData: { command, scratch, code: engine.code, module: engine.module } }));
  try {
    fs.copyFileSync(path.join(golden, '../../crates/oversleep-why/tests/recorded/fifo.why'), path.join(scratch, 'r.why'));
    const replayed = spawnSync(command, ['why', 'r.why', '--quiet', '--out', 'why.json', '--html', 'why.html'], { cwd: scratch });
    if (replayed.status !== 0) throw new Error(`why: ${replayed.stderr}`);
    fs.copyFileSync(path.join(golden, 'v2/everything.json'), path.join(scratch, 'everything.json'));
    const stored = [];
    // A comparison is no result.
    for (const version of fs.readdirSync(golden).filter((kind) => !kind.startsWith('comparison'))) {
      for (const name of fs.readdirSync(path.join(golden, version)).filter((file) => file.endsWith('.json'))) {
        fs.copyFileSync(path.join(golden, version, name), path.join(scratch, `${version}-${name}`));
        stored.push(`${version}-${name}`);
      }
    }
    // Files of other programs, and those that are known and hold no result.
    const foreign = path.join(golden, '../../crates/oversleep-exchange/tests/files');
    for (const name of fs.readdirSync(foreign)) {
      fs.copyFileSync(path.join(foreign, name), path.join(scratch, name));
      stored.push(name);
    }
    // This machine's own result, and what is shared of it.
    const real = [['check', '--quick', '--quiet', '--out', 'real.json', '--html', 'unused.html'], ['share', 'real.json', '--out', 'real-shared.json']];
    for (const words of isSample ? [] : real) {
      const { status, stderr } = spawnSync(command, words, { cwd: scratch });
      if (status !== 0 && status !== 4) throw new Error(`${words.join(' ')}: ${status} ${stderr}`);
      stored.push(words.at(-1).endsWith('.html') ? 'real.json' : words.at(-1));
    }
    const { machines } = engine.ask({ catalogue: {} });
    const checked = machines.map(({ name }) => name).filter((name) => !isSample || thorough.includes(name));
    // The long ones first, so that no worker is left with one at the end.
    await done(workers, [
      ...(isSample ? [] : thorough).map((machine) => ({ check: { machine, depth: '--thorough' } })),
      ...checked.map((machine) => ({ check: { machine, depth: '' } })),
      ...formsOf(machines).map((words) => ({ ask: { words } })),
      ...stored.map((name) => ({ report: { name } })),
      ...['r.why', 'why.json'].map((name) => ({ why: { name } })),
      { assert: { name: 'jhiccup.hlog', assertions: ['series(*jhiccup*).p99 < 5ms', 'series(*jhiccup*).p50 < 1us'] } },
      { assert: { name: 'why.json', assertions: ['why(*).p50 < 1s', 'period(*).p50 < 1ms', 'cause(late-by-quota) absent'] } },
      { conformance: {} },
    ]);
    const pairs = [thorough.slice(0, 2), thorough.slice(0, 3)].map((names) => names.map((name) => `${name}.json`));
    const foreigners = [['cyclictest.json', 'linux-hz250.json'], ['hyperfine.json', 'hyperfine.csv']];
    await done(workers, [...pairs, ...foreigners, ['r.why', 'why.json'], ['v2-everything.json', 'v1-everything.json'],
      ['v2-shared-quick.json', 'v2-shared-thorough.json', 'v2-everything.json'], ['r.why', 'why-v1-everything.json', 'v3-everything.json']].map((names) => ({ compare: { names } })));
    return await summary(workers);
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
    fs.rmSync(scratch, { recursive: true });
  }
}

async function summary(workers) {
  const said = await Promise.all(workers.map((worker) => new Promise((resolve) => {
    worker.removeAllListeners('message');
    worker.once('message', resolve);
    worker.postMessage('summary');
  })));
  for (const line of said.flatMap(({ log }) => log)) console.log(line);
  for (const kind of new Set(said.flatMap(({ times }) => Object.keys(times)))) {
    const sorted = said.flatMap(({ times }) => times[kind] ?? []).sort((a, b) => a - b);
    console.log(`${kind}: ${sorted.length} times, ${sorted[0].toFixed(0)} to ${sorted.at(-1).toFixed(0)} ms`);
  }
  const [compared, wrong] = ['compared', 'wrong'].map((what) => said.reduce((sum, one) => sum + one[what], 0));
  console.log(`${compared} documents compared, ${wrong} differ`);
  return wrong === 0;
}

if (isMainThread) {
  process.exitCode = await main() ? 0 : 1;
} else {
  const comparing = new Comparing({ ...workerData, engine: engineWith(workerData.code, workerData.module) });
  parentPort.on('message', (job) => {
    if (job === 'summary') {
      const { compared, wrong, log, times } = comparing;
      parentPort.postMessage({ compared, wrong, log, times });
      return;
    }
    const [[kind, what]] = Object.entries(job);
    comparing[kind](what);
    parentPort.postMessage('done');
  });
}
