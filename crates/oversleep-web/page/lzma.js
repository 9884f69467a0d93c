// LZMA, as its specification has it: browsers unpack only deflate, which is 29 % longer for the engine. The stream has its
// usual head of 13 bytes, states its length, and comes with this page, so that nothing in it is doubted.

/** The bytes that an LZMA stream stands for. */
function unlzma(packed) {
  const head = new DataView(packed.buffer, packed.byteOffset);
  const contextBits = packed[0] % 9;
  const literalMask = (1 << (Math.floor(packed[0] / 9) % 5)) - 1;
  const positionMask = (1 << Math.floor(packed[0] / 45)) - 1;
  const bytes = new Uint8Array(head.getUint32(5, true));

  // All adaptive chances in one array, one kind after the other.
  let chancesCount = 0;
  const kind = (count) => { chancesCount += count; return chancesCount - count; };
  const [isMatch, isRep, isRep0, isRep1, isRep2, isRep0Long] = [kind(192), kind(12), kind(12), kind(12), kind(12), kind(192)];
  const [slots, reverse, align] = [kind(256), kind(128), kind(16)];
  // A length: whether it is long, whether it is longest, 16 trees of short ones, 16 of long ones, one of the longest.
  const [matchLengths, repLengths] = [kind(514), kind(514)];
  const literals = kind(0x300 << (contextBits + Math.log2(literalMask + 1)));
  const chances = new Uint16Array(chancesCount).fill(1024);

  let from = 18;
  // Range and code: 32 bits each, which a variable would keep as an object.
  const coder = new Uint32Array([0xffffffff, head.getUint32(14, false)]);

  function renewed() {
    coder[0] <<= 8;
    coder[1] = (coder[1] << 8) | packed[from];
    from += 1;
  }

  function bit(at) {
    const chance = chances[at];
    const bound = (coder[0] >>> 11) * chance;
    let one = 0;
    if (coder[1] < bound) {
      coder[0] = bound;
      chances[at] = chance + ((2048 - chance) >> 5);
    } else {
      coder[0] -= bound;
      coder[1] -= bound;
      chances[at] = chance - (chance >> 5);
      one = 1;
    }
    if (coder[0] < 0x1000000) renewed();
    return one;
  }

  /** As many bits, 0 and 1 alike likely. */
  function even(count) {
    let number = 0;
    for (let i = 0; i < count; i += 1) {
      coder[0] >>>= 1;
      const one = coder[1] >= coder[0] ? 1 : 0;
      if (one) coder[1] -= coder[0];
      number = number * 2 + one;
      if (coder[0] < 0x1000000) renewed();
    }
    return number;
  }

  function tree(at, bits) {
    let node = 1;
    for (let i = 0; i < bits; i += 1) node = (node << 1) | bit(at + node);
    return node - (1 << bits);
  }

  function reverseTree(at, bits) {
    let [node, number] = [1, 0];
    for (let i = 0; i < bits; i += 1) {
      const one = bit(at + node);
      node = (node << 1) | one;
      number |= one << i;
    }
    return number;
  }

  function lengthOf(at, position) {
    if (!bit(at)) return tree(at + 2 + (position << 3), 3);
    if (!bit(at + 1)) return 8 + tree(at + 130 + (position << 3), 3);
    return 16 + tree(at + 258, 8);
  }

  function distanceOf(length) {
    const slot = tree(slots + (Math.min(length, 3) << 6), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const high = (2 | (slot & 1)) * 2 ** bits;
    if (slot < 14) return high + reverseTree(reverse + high - slot, bits);
    return high + even(bits - 4) * 16 + reverseTree(align, 4);
  }

  let [state, rep0, rep1, rep2, rep3, to] = [0, 0, 0, 0, 0, 0];

  function literal() {
    const before = to > 0 ? bytes[to - 1] : 0;
    const context = ((to & literalMask) << contextBits) + (before >> (8 - contextBits));
    const at = literals + 0x300 * context;
    let node = 1;
    if (state >= 7) {
      for (let matched = bytes[to - rep0 - 1]; node < 0x100;) {
        const wanted = (matched >> 7) & 1;
        matched <<= 1;
        const one = bit(at + ((1 + wanted) << 8) + node);
        node = (node << 1) | one;
        if (one !== wanted) break;
      }
    }
    while (node < 0x100) node = (node << 1) | bit(at + node);
    bytes[to] = node;
    to += 1;
    state = state < 4 ? 0 : state - (state < 10 ? 3 : 6);
  }

  while (to < bytes.length) {
    const position = to & positionMask;
    if (!bit(isMatch + (state << 4) + position)) {
      literal();
      continue;
    }
    let length;
    if (!bit(isRep + state)) {
      [rep3, rep2, rep1] = [rep2, rep1, rep0];
      length = lengthOf(matchLengths, position);
      rep0 = distanceOf(length);
      state = state < 7 ? 7 : 10;
    } else {
      if (!bit(isRep0 + state)) {
        if (!bit(isRep0Long + (state << 4) + position)) {
          bytes[to] = bytes[to - rep0 - 1];
          to += 1;
          state = state < 7 ? 9 : 11;
          continue;
        }
      } else if (!bit(isRep1 + state)) {
        [rep1, rep0] = [rep0, rep1];
      } else if (!bit(isRep2 + state)) {
        [rep2, rep1, rep0] = [rep1, rep0, rep2];
      } else {
        [rep3, rep2, rep1, rep0] = [rep2, rep1, rep0, rep3];
      }
      length = lengthOf(repLengths, position);
      state = state < 7 ? 8 : 11;
    }
    for (let i = length + 2; i > 0; i -= 1, to += 1) bytes[to] = bytes[to - rep0 - 1];
  }
  return bytes;
}
