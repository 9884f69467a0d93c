// Checks of modelled machines, with their figures as a form.

const changed = new Map();

function checkWords() {
  const fields = byId('checking').elements;
  const words = ['check', ...(fields.like.value ? option('like', fields.like.value) : ['--on', fields.on.value])];
  if (fields.depth.value) words.push(fields.depth.value);
  for (const name of ['load', 'seed']) if (fields[name].value.trim()) words.push(...option(name, fields[name].value.trim()));
  // The figures shown are those of the machine that is chosen.
  if (!fields.like.value) for (const [key, value] of changed) words.push('--set', `${key}=${value}`);
  byId('figures').parentElement.hidden = fields.like.value !== '';
  fields.on.disabled = fields.like.value !== '';
  showCommand(byId('check-command'), words);
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
  byId('checked').ariaBusy = 'true';
  const said = await checks.run(words, dropped, (done, total) => { bar.value = total > 0 ? done / total : 0; });
  if (mine !== checking) return;
  byId('cancel').disabled = true;
  byId('checked').ariaBusy = 'false';
  bar.value = said.error ? 0 : 1;
  byId('check-error').textContent = inOwnWords(said.error ?? '');
  byId('checked').replaceChildren(...(said.error ? [] : [shown('Report of the check', said.parts)]));
  document.documentElement.dataset.checked = words.join(' ');
}
