// What is shown of an answer: a report in a frame, and buttons that save its documents.

function download(part, name = part.name) {
  const url = URL.createObjectURL(new Blob([part.bytes], { type: part.type }));
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Buttons that save documents. Pictures are many, so they are listed where somebody looks for one. */
function saves(parts) {
  const save = (part) => element('button', { type: 'button', onclick: () => download(part) }, `Save ${part.name}`);
  const buttons = parts.filter((part) => part.kind !== 'svg').map(save);
  const pictures = parts.filter((part) => part.kind === 'svg').map(save);
  if (pictures.length <= 2) return [...buttons, ...pictures];
  const all = element('details', {}, element('summary', {}, `${pictures.length} pictures`), element('div', { className: 'row' }, ...pictures));
  return [...buttons, all];
}

/**
 * A report in a frame that runs no script, with buttons that save and print its documents. The page may look into the frame,
 * so that the frame is as high as its report.
 */
function shown(title, parts) {
  const page = parts.find((part) => part.kind === 'html');
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
  const print = element('button', { type: 'button', onclick: () => frame.contentWindow.print() }, `Print the ${title.split(' ')[0].toLowerCase()}`);
  const printed = element('p', { className: 'printed' }, `${title}: print it with its own button.`);
  return element('div', {}, element('div', { className: 'row' }, print, ...saves(parts)), printed, frame);
}
