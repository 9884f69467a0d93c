// Part of the test in Chromium: links that ask for too much, answers side by side, what can be saved, files of every kind
// and size, and an engine that breaks down.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pause } from './driver.mjs';

const golden = fileURLToPath(new URL('../../schema/golden/v2/', import.meta.url));
const foreign = fileURLToPath(new URL('../../crates/oversleep-exchange/tests/files/', import.meta.url));
/** A module with what the page calls, whose answer is a trap. */
const trapping = [
  0, 97, 115, 109, 1, 0, 0, 0,
  1, 19, 4, 96, 1, 127, 1, 127, 96, 2, 127, 127, 1, 127, 96, 0, 1, 127, 96, 0, 0,
  3, 4, 3, 0, 1, 2,
  5, 3, 1, 0, 16,
  6, 6, 1, 127, 1, 65, 0, 11,
  7, 54, 5,
  6, 109, 101, 109, 111, 114, 121, 2, 0,
  15, 95, 95, 115, 116, 97, 99, 107, 95, 112, 111, 105, 110, 116, 101, 114, 3, 0,
  7, 114, 101, 115, 101, 114, 118, 101, 0, 0,
  6, 97, 110, 115, 119, 101, 114, 0, 1,
  4, 98, 121, 116, 101, 0, 2,
  10, 15, 3, 4, 0, 65, 0, 11, 3, 0, 0, 11, 4, 0, 65, 0, 11,
];

export async function beyond(browser) {
  await links(browser);
  await sideBySide(browser);
  await saved(browser);
  await kinds(browser);
  await exchanged(browser);
  await sizes(browser);
  await traps(browser);
}

async function links({ evaluated, until, must }) {
  await evaluated(`location.hash = '#question=sleep(7ms)&on=windows-12,windows-11&speed=9&like=gone.json'`);
  await until('byId("answer").textContent.includes("sleep(7")');
  const note = await evaluated('byId("ask-note").textContent');
  must('what a link names and the page lacks is said', ['windows-12', 'speed=9', 'gone.json'].every((what) => note.includes(what))
    && (await evaluated('byId("answer").textContent')).includes('windows-11'), note.trim().replaceAll('\n', ' '));
  await evaluated(`restore({ question: 'sleep(1ms)', on: ['windows-11'] }); answerNow().then(() => undefined)`);
  must('the note goes with its link', (await evaluated('byId("ask-note").textContent')) === '');
}

async function sideBySide({ evaluated, must, took }) {
  const asked = (given) => evaluated(`restore(${JSON.stringify(given)}); answerNow().then(() => byId('ask-error').textContent + byId('answer').textContent)`);
  for (const given of [
    { question: 'select.epoll(1ms)', on: ['windows-11', 'linux-hz250'] },
    { question: 'sleep(1ms)', on: ['windows-11', 'linux-hz250'], slack: '1ns' },
  ]) {
    const said = await asked(given);
    must(`${given.question}: one machine answers, and the other says why not`,
      said.includes('The median is') && /windows-11[^.]*(has no wait|can't use --slack)/.test(said), said.slice(0, 200));
  }
  const began = performance.now();
  const said = await asked({ question: 'forkjoin(polling)', on: ['windows-11', 'linux-hz250', 'macos-14-m1'] });
  must('fork-joins on three machines', said.includes('macos-14-m1'), took(began));
  const next = performance.now();
  await asked({ question: 'sleep(4ms)', on: ['windows-11', 'linux-hz250', 'macos-14-m1'] });
  must('an answer of three machines', true, took(next));
}

async function saved({ send, evaluated, until, must, profile }) {
  const downloadPath = path.join(profile, 'saved');
  fs.mkdirSync(downloadPath);
  await send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath });
  const saves = async (within, names) => {
    await evaluated(`(() => { for (const name of ${JSON.stringify(names)}) {
      [...document.querySelectorAll('${within} button')].find((button) => button.textContent === 'Save ' + name)?.click(); } })()`);
    for (const end = Date.now() + 20_000; Date.now() < end; await pause(50)) {
      if (names.every((name) => fs.existsSync(path.join(downloadPath, name)))) break;
    }
    const missing = names.filter((name) => !fs.existsSync(path.join(downloadPath, name)));
    must(`${within} saves ${names.join(', ')}`, missing.length === 0, missing.join(' '));
    return (name) => fs.readFileSync(path.join(downloadPath, name), 'utf8');
  };
  const answer = await saves('#answer', ['answer.json', 'answer.txt', 'answer.csv', 'answer-1.svg']);
  must('what was saved is the answer', JSON.parse(answer('answer.json')).length === 3 && answer('answer.csv').startsWith('machine,')
    && answer('answer-1.svg').startsWith('<svg'));
  await evaluated(`byId('checking').elements.depth.value = '--quick'; byId('checking').requestSubmit(); undefined`);
  await until('document.querySelector("#checked details button")');
  const name = await evaluated('document.querySelector("#checked details button").textContent.slice(5)');
  const report = await saves('#checked', ['result.json', 'result.html', 'result.csv', 'result.md', name]);
  must('what was saved is the check', JSON.parse(report('result.json')).series.length > 100 && report(name).startsWith('<svg'));
}

async function kinds({ evaluated, until, drop, must, result, why }) {
  const shown = () => until('document.querySelector("#results-shown iframe, #results-error:not(:empty)")');
  const titles = () => evaluated('[...document.querySelectorAll("#results-shown iframe")].map((frame) => frame.title).join()');
  const anew = async (files) => {
    await evaluated('byId("forget").click()');
    await drop(files);
    await shown();
  };
  await anew([path.join(golden, 'shared-quick.json')]);
  must('a share file gives a report', (await titles()) === 'Report of shared-quick.json');
  await anew([path.join(golden, 'shared-quick.json'), path.join(golden, 'shared-thorough.json'), result]);
  must('share files and a result are compared', (await titles()) === 'Comparison');
  await evaluated('byId("show-table").click()');
  await until('document.querySelector("#results-shown iframe")?.title === "Machines"');
  must('share files and a result are one table', true);
  await anew([result, why]);
  const said = await evaluated('byId("results-error").textContent');
  must('a result and one of why give a sentence and two reports', said.includes('why') && (await titles()).split(',').length === 2, said.trim());
  await evaluated('byId("forget").click()');
  await evaluated(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text', 'p50 1.06 ms');
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  }`);
  await shown();
  const refused = await evaluated('byId("results-error").textContent');
  must('pasted text that is no result is refused', refused.startsWith("can't use 'pasted.json': not a result file"), refused.trim());
  await evaluated('byId("forget").click()');
}

/** Files of other programs: reported, compared with ours, and judged. */
async function exchanged({ evaluated, until, drop, must, result }) {
  const shown = (title) => until(`document.querySelector('#results-shown iframe')?.title === ${JSON.stringify(title)}
    && document.querySelector('#results-shown iframe').contentDocument?.body?.textContent.length > 100`);
  const content = () => evaluated('byId("results-error").textContent + document.querySelector("#results-shown iframe").contentDocument.body.textContent');
  const anew = async (files, title) => {
    await evaluated('byId("forget").click()');
    await drop(files.map((file) => (path.isAbsolute(file) ? file : path.join(foreign, file))));
    await shown(title);
  };
  const asserted = async (assertion) => {
    await evaluated(`{ const { assertion } = byId('asserting').elements; assertion.value = ${JSON.stringify(assertion)};
      byId('asserting').querySelector('button').click(); }`);
  };
  for (const file of ['hyperfine.json', 'cyclictest-hist.txt', 'rtla-timerlat-hist.txt', 'jhiccup.hgrm']) {
    await anew([file], `Report of ${file}`);
    must(`${file} is reported`, (await content()).includes(path.basename(file).split(/[-.]/)[0].replace('jhiccup', 'HdrHistogram')), (await content()).slice(0, 80).trim());
  }
  await anew(['cyclictest.json', result], 'Comparison');
  must('cyclictest.json and a result are compared', (await content()).includes('cyclictest'));
  await anew(['jhiccup.hlog'], 'Report of jhiccup.hlog');
  for (const [assertion, verdict] of [['series(*jhiccup*).p99 < 5ms', 'pass'], ['series(*).p50 < 1us', 'fail']]) {
    await asserted(assertion);
    await until(`document.querySelector('#results-shown iframe')?.contentDocument?.body?.textContent.includes(${JSON.stringify(assertion)})`);
    must(`${assertion} of jhiccup.hlog: ${verdict}`, (await content()).includes(verdict));
  }
  await asserted('series(x).p50 < 1ms');
  await until('byId("results-error").textContent !== ""');
  const said = await evaluated('byId("results-error").textContent');
  must('an assertion about nothing is a sentence', said.includes("unknown series 'x'"), said.trim());
  await evaluated('byId("forget").click()');
}

/** 100 MB of a result, which is read, and of something else, which is refused. */
async function sizes({ evaluated, until, drop, must, took, profile, result }) {
  const large = path.join(profile, 'large.json');
  fs.writeFileSync(large, fs.readFileSync(result, 'utf8').trimEnd() + ' '.repeat(100 << 20));
  const foreign = path.join(profile, 'foreign.json');
  fs.writeFileSync(foreign, Buffer.alloc(100 << 20, '[0],'));
  for (const [file, holds] of [
    [large, '!!document.querySelector("#results-shown iframe")'],
    [foreign, `byId("results-error").textContent.startsWith("can't use 'foreign.json': ")`],
  ]) {
    const began = performance.now();
    await drop([file]);
    await until('document.querySelector("#results-shown iframe, #results-error:not(:empty)")');
    must(`${path.basename(file)} of 100 MB`, await evaluated(holds), `${took(began)} ${await evaluated('byId("results-error").textContent.trim()')}`);
    await evaluated('byId("forget").click()');
  }
}

async function traps({ evaluated, must }) {
  const said = await evaluated(`(async () => {
    const worker = new Worker(workerUrl);
    const answer = (message) => new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data.said); worker.postMessage(message); });
    worker.postMessage({ module: await WebAssembly.compile(new Uint8Array(${JSON.stringify(trapping)})) });
    const trapped = await answer({ id: 1, request: { catalogue: {} }, files: [] });
    worker.postMessage({ module: await compiled });
    const after = await answer({ id: 2, request: { catalogue: {} }, files: [] });
    worker.terminate();
    return { trapped: trapped.error, after: after.machines?.length };
  })()`);
  must('a trap is a sentence, and the next answer is right', said.trapped?.includes("can't be answered here") && said.after > 20, said.trapped);
}
