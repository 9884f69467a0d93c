// Elements of the page, and command lines as they are typed.

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
/** The command in a box, where lines end between words. */
const showCommand = (box, words) => box.replaceChildren(...['oversleep', ...words]
  .flatMap((word, at) => [at > 0 ? ' ' : '', element('span', {}, quoted(word))]));

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
