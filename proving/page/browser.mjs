// node browser.mjs PAGE BROWSER RESULT… [--pictures DIR]: the page from file:// in a real Chromium, driven through its
// debugging pipe: it answers in time, asks for nothing, takes dropped files, runs no script of a hostile one, cancels.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beyond } from './beyond.mjs';
import { chromium } from './chromium.mjs';
import { bad, damaged, expectations, pause, pictureOf, spoilt, typed, untilOf } from './driver.mjs';

const { page, program, results, pictures } = typed();
const { must, took, failed } = expectations();

const browser = await chromium(program);
const { send, tell, evaluated, events, profile } = browser;

try {
  await Promise.all(['Network', 'Runtime', 'Page', 'Log', 'DOM', 'Accessibility'].map((domain) => tell(`${domain}.enable`)));
  const until = untilOf(evaluated);
  const picture = pictureOf(pictures, async () => (await tell('Page.captureScreenshot', { format: 'png' })).data);
  const began = performance.now();

  await tell('Emulation.setDeviceMetricsOverride', { width: 1100, height: 1400, deviceScaleFactor: 1, mobile: false });
  await tell('Page.navigate', { url: pathToFileURL(page).href });
  await until('document.documentElement?.dataset.answered && document.querySelector("#answer svg")');
  must('the first answer after opening', true, took(began));
  await until('document.querySelectorAll("#figures tr").length > 10');
  await picture('ask');

  const typing = performance.now();
  await evaluated(`(() => { const field = byId('question').elements.question; field.value = 'sleep(2ms)';
    field.dispatchEvent(new Event('input', { bubbles: true })); })()`);
  await until('byId("answer").textContent.includes("2 ms") && byId("command").textContent.includes("sleep(2ms)")');
  must('the next answer, with the pause that typing gets', true, took(typing));
  must('the question is in the address', (await evaluated('location.hash')).includes('question=sleep%282ms%29'));
  must('an answer to a bad question is a sentence', await (async () => {
    await evaluated(`restore({ question: 'slep(1ms)', on: ['windows-11'] }); answerNow()`);
    return (await evaluated('byId("ask-error").textContent')).length > 10;
  })());

  const refused = await evaluated(`(async () => { const refused = [];
    for (const button of byId('examples').querySelectorAll('button')) {
      button.click();
      while (byId('answer').ariaBusy === 'true') await new Promise((done) => setTimeout(done, 20));
      if (byId('ask-error').textContent || !byId('answer').querySelector('svg')) refused.push(button.textContent);
    }
    return refused; })()`);
  must('every example has an answer', refused.length === 0, refused.join(', '));

  await evaluated(`byId('call').value = 'Thread.Sleep'; byId('duration').value = '5ms';
    byId('call').dispatchEvent(new Event('input', { bubbles: true }))`);
  await until('byId("command").textContent.includes("Thread.Sleep(5ms)") && byId("answer").textContent.includes("5 ms")');
  must('a call and a duration are a question', true);
  await evaluated(`byId('question').elements.question.value = 'sleep(3ms)';
    byId('question').elements.question.dispatchEvent(new Event('input', { bubbles: true }))`);
  must('a typed question sets call and duration', (await evaluated('`${byId("call").value} ${byId("duration").value}`')) === 'sleep 3ms');

  // What a screen reader says, and where the tabulator goes.
  const { nodes } = await tell('Accessibility.getFullAXTree');
  const spoken = ['button', 'textbox', 'combobox', 'checkbox', 'link', 'spinbutton', 'image', 'progressbar', 'Iframe', 'DisclosureTriangle'];
  const unnamed = nodes.filter(({ ignored, role, name }) => !ignored && spoken.includes(role?.value) && !name?.value?.trim());
  must('every control and picture has a name', nodes.length > 100 && unnamed.length === 0, unnamed.map(({ role }) => role.value).join(' '));
  const key = async (name, code) => {
    for (const type of ['keyDown', 'keyUp']) await tell('Input.dispatchKeyEvent', { type, key: name, code: name, windowsVirtualKeyCode: code });
  };
  const reached = new Set();
  for (const tab of ['results', 'ask', 'check']) {
    await evaluated(`chooseTab('${tab}'); byId('choose').open = true; document.activeElement.blur(); scrollTo(0, 0)`);
    // A round begins wherever the last focus was, so it is whole when it has passed the page's end twice.
    for (let [i, ends] = [0, 0]; i < 500 && ends < 2; i += 1) {
      await key('Tab', 9);
      const at = await evaluated('(() => { const e = document.activeElement; return e === document.body ? "" : e.id || e.name || e.value || e.textContent; })()');
      if (at) reached.add(at);
      else ends += 1;
    }
  }
  const wanted = ['tab-results', 'tab-ask', 'tab-check', 'files', 'question', 'call', 'duration', 'copy', 'on', 'depth', 'seed', 'copy-check'];
  const missed = wanted.filter((name) => !reached.has(name));
  must('the tabulator reaches every control', missed.length === 0, missed.join(' '));

  await evaluated(`chooseTab('ask'); byId('tab-ask').focus()`);
  await key('ArrowRight', 39);
  must('an arrow key chooses the next tab', await evaluated('!byId("check").hidden && byId("ask").hidden && document.activeElement.id === "tab-check"'));
  must('an error has the words of the page', (await evaluated(`inOwnWords("can't use --slack 5 µs on windows-11: this platform has no such tunable; on this system, use --resolution")`))
    === "can't use “Timer slack” 5 µs on Windows 11 22H2 and later, client: this platform has no such tunable; on this system, use “Timer resolution”");

  // Files are dropped as a user drops them; they open their tab.
  await evaluated(`chooseTab('results')`);
  const where = await evaluated('(() => { scrollTo(0, 0); const { x, y } = byId("drop").getBoundingClientRect(); return { x: x + 20, y: y + 20 }; })()');
  const drop = async (files) => {
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) await tell('Input.dispatchDragEvent', { type, ...where, data });
  };
  const reported = performance.now();
  await drop([results[0]]);
  await until('document.querySelector("#results-shown iframe, #results-error:not(:empty)")');
  must('a dropped result is reported', await evaluated('!!document.querySelector("#results-shown iframe")'), took(reported));
  await until('document.querySelector("#results-shown iframe").clientHeight > 2000');
  await evaluated('chooseTab("results")');
  await pause(200);
  await picture('report');
  const heights = await evaluated('(() => { const f = document.querySelector("#results-shown iframe"); return [f.clientHeight, f.contentDocument.documentElement.scrollHeight]; })()');
  must('a report is shown whole', heights[0] > 2000 && Math.abs(heights[0] - heights[1]) < 10, heights.join(' of ') + ' px');
  if (pictures) {
    const { data } = await tell('Page.printToPDF', { printBackground: true });
    fs.writeFileSync(path.join(pictures, 'printed.pdf'), Buffer.from(data, 'base64'));
  }
  await drop(results.slice(1, 2));
  await until('document.querySelector("#results-shown iframe")?.title === "Comparison"');
  must('two results are compared', true);
  await picture('comparison');

  // Links within a report stay in it.
  await evaluated('byId("forget").click()');
  await drop([results[0]]);
  await until('!!document.querySelector("#results-shown iframe")?.contentDocument?.querySelector("a[href*=findings]")');
  await evaluated('document.querySelector("#results-shown iframe").contentDocument.querySelector("a[href*=findings]").click()');
  await pause(300);
  must('a link within a report leaves it there', await evaluated(`(() => { const inside = document.querySelector('#results-shown iframe').contentDocument;
    return !!inside && inside.body.textContent.length > 1000; })()`));
  // One bad file doesn't hide the good one.
  const half = damaged(results[0], path.join(profile, 'half.json'));
  // On the report, which fills the window.
  await drop([half]);
  await until('byId("results-error").textContent.includes("half.json") && document.querySelectorAll("#results-shown iframe").length === 1');
  must('a bad file and a good one give a sentence and a report', true);

  // A result of a real machine: what is like a model is the model.
  const real = fileURLToPath(new URL('../../schema/golden/v2/everything.json', import.meta.url));
  await evaluated('byId("forget").click()');
  await drop([real]);
  await until('document.querySelector("#results-shown iframe, #results-error:not(:empty)")');
  await evaluated(`restore({ question: 'nanosleep(1ms)', on: [], like: 'everything.json' }); answerNow().then(() => undefined)`);
  await until('byId("command").textContent.includes("--like everything.json") && byId("answer").textContent.includes("like ")');
  must('the machine of a dropped result is asked', (await evaluated('byId("ask-error").textContent')) === '');
  await evaluated('byId("question").querySelector("#machines input").click()');
  await evaluated('byId("forget").click()');
  await until('!byId("command").textContent.includes("--like") && byId("answer").ariaBusy === "false"');
  must('without its file, another machine is asked', !(await evaluated('byId("answer").textContent')).includes('everything'));

  const hostile = path.join(profile, 'hostile <img src=x onerror=alert(1)>.json');
  fs.writeFileSync(hostile, spoilt(results[0]));
  await evaluated('byId("forget").click()');
  await drop([hostile]);
  await until('document.querySelector("#results-shown iframe, #results-error:not(:empty)")');
  await evaluated('byId("forget").click()');
  await drop([damaged(results[0], path.join(profile, 'damaged.json'))]);
  await until('document.querySelector("#results-error:not(:empty)")');
  const said = await evaluated('byId("results-error").textContent');
  must('a damaged file gets the command\'s sentence', said.startsWith("can't use 'damaged.json': "), said.trim());
  await evaluated('byId("forget").click()');

  // A result of `why` whose tasks have chosen their names.
  const why = JSON.parse(fs.readFileSync(results[2], 'utf8'));
  const observed = why.series.filter((series) => series.observed);
  must('a result of why has observed waits', observed.length > 0 && why.observation.worst.length > 0);
  for (const { labels, observed: { blames = [] } } of observed) {
    labels.program = bad;
    labels.thread = '}*{display:none}</style>';
    for (const blame of blames) blame.name = bad;
  }
  for (const named of why.observation.processes ?? []) named.name = bad;
  for (const wait of why.observation.worst) {
    wait.thread = bad;
    for (const culprit of wait.culprits ?? []) culprit.name = bad;
  }
  const whyFile = path.join(profile, 'why.json');
  fs.writeFileSync(whyFile, JSON.stringify(why));
  await drop([whyFile]);
  await until('document.querySelector("#results-shown iframe, #results-error:not(:empty)")');
  must('a dropped result of why is shown', await evaluated('!!document.querySelector("#results-shown iframe")'));
  await pause(500);
  await evaluated('chooseTab("results")');
  await picture('why');
  await evaluated('byId("forget").click()');

  const checking = performance.now();
  await evaluated('byId("checking").requestSubmit()');
  await until('document.documentElement.dataset.checked && document.querySelector("#checked iframe")');
  must('a check of a modelled machine', true, took(checking));
  await evaluated('chooseTab("check")');
  await pause(500);
  await picture('check');
  await evaluated(`byId('checking').elements.depth.value = '--thorough'; byId('checking').requestSubmit(); undefined`);
  await until('byId("progress").value > 0 && byId("progress").value < 1');
  await evaluated('byId("cancel").click()');
  await until('byId("check-error").textContent === "cancelled"');
  must('a thorough check can be cancelled', true);

  await beyond({ tell, send, evaluated, until, drop, must, took, profile, result: results[0], why: results[2] });

  await tell('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
  await tell('Emulation.setDeviceMetricsOverride', { width: 360, height: 1400, deviceScaleFactor: 1, mobile: true });
  await evaluated(`restore(examples[0][1]); answerNow().then(() => { chooseTab('ask'); scrollTo(0, 0); })`);
  must('nothing is wider than a narrow screen', await evaluated('document.documentElement.scrollWidth <= 360'),
    `${await evaluated('document.documentElement.scrollWidth')} px`);
  await picture('narrow-dark');

  const urls = events.filter(({ method }) => method === 'Network.requestWillBeSent').map(({ params }) => params.request.url);
  const asked = urls.filter((url) => !url.startsWith('data:') && !url.startsWith('blob:') && url.split('#')[0] !== pathToFileURL(page).href);
  must('it asks for nothing', asked.length === 0, asked.join(' '));
  const complaints = events.filter(({ method }) => ['Runtime.exceptionThrown', 'Log.entryAdded'].includes(method));
  must('nothing is complained about', complaints.length === 0, complaints.map((one) => JSON.stringify(one.params).slice(0, 300)).join(' '));
  must('no script of a hostile file has run', !(await evaluated('!!window.broken')));
} catch (error) {
  must(error.message, false);
} finally {
  await browser.close();
}
process.exitCode = failed() ? 1 : 0;
