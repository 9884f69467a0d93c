// The engine: a compiled module answers one request per instance. The page's worker and the tests in node use the same
// functions. A request is pieces of bytes, the first of them JSON; so is an answer (see src/boundary.rs).

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * The bytes that letters stand for, unpacked. A letter below 128 is one digit of 138, any other is two. They go into a
 * number from the last to the first, and it gives a byte, again the last first, whenever it is large enough.
 */
function unpacked(letters) {
  const packed = new Uint8Array(2 * letters.length);
  let at = packed.length;
  let number = 0;
  function add(digit) {
    number = number * 138 + digit;
    while (number >= 0x800000) {
      at -= 1;
      packed[at] = number & 0xff;
      number >>= 8;
    }
  }
  for (let i = letters.length - 1; i >= 0; i -= 1) {
    const letter = letters.charCodeAt(i);
    if (letter < 0x80) {
      add(letter - 1 - (letter > 13) - (letter > 60));
    } else {
      add((letter - 0x80) % 138);
      add(125 + Math.floor((letter - 0x80) / 138));
    }
  }
  return together(unlzma(packed.subarray(at)));
}

function joined(pieces) {
  const head = 4 * (pieces.length + 1);
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, head));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, pieces.length, true);
  let at = head;
  pieces.forEach((piece, i) => {
    view.setUint32(4 * (i + 1), piece.length, true);
    bytes.set(piece, at);
    at += piece.length;
  });
  return bytes;
}

function taken(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = view.getUint32(0, true);
  let at = 4 * (count + 1);
  return Array.from({ length: count }, (_, i) => {
    const length = view.getUint32(4 * (i + 1), true);
    at += length;
    return bytes.slice(at - length, at);
  });
}

/**
 * What the module answers: `{error}`, or its JSON with the bytes of each part. `files` are bytes, in the order of the
 * request's names; `progress` hears what is done and how much there is, in ns.
 */
function answered(module, request, files = [], progress = () => {}) {
  let exports;
  const pointer = () => exports.__stack_pointer;
  const imports = {
    stack: { get: () => pointer().value, set: (to) => { pointer().value = to; } },
    page: { progress },
  };
  exports = new WebAssembly.Instance(module, imports).exports;
  const bytes = joined([encoder.encode(JSON.stringify(request)), ...files]);
  const at = exports.reserve(bytes.length);
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
  const from = exports.answer(at, bytes.length);
  const [head, ...parts] = taken(new Uint8Array(exports.memory.buffer, from, exports.answer_bytes()));
  const said = JSON.parse(decoder.decode(head));
  (said.parts ?? []).forEach((part, i) => { part.bytes = parts[i]; });
  return said;
}

/** The same where a trap of the module is an answer, too. */
function answer(module, request, files, progress) {
  try {
    return answered(module, request, files, progress);
  } catch (trap) {
    return { error: `this can't be answered here: ${trap.message}; the page goes on, and \`oversleep\` on a machine says more` };
  }
}
