/** Numbers 0..2^32-1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

const snippets = [
  ...[
    '',
    ',',
    '"',
    '=',
    ':',
    '\n',
    '\r\n',
    '#',
    '#EXT',
    ' ',
    '-',
    '.',
    '0',
    '-1',
    '1e9',
    '9'.repeat(400),
    'NaN',
  ],
  ...['\0', '\ufeff', 'é', 'YES', 'NO', 'URI=""', 'URI="a",URI="b"', '2026-02-30T25:00:00Z', 'A=1'],
];

/** `text` with one to four changes: pieces cut, repeated or swapped between lines, and awkward ones put in. */
export function mutateText(text: string, random: () => number): string {
  let changed = text;
  for (let left = 1 + (random() % 4); left > 0; left--) {
    const at = random() % (changed.length + 1);
    const to = at + (random() % 30);
    const lines = changed.split('\n');
    switch (random() % 6) {
      case 0:
        changed = changed.slice(0, at) + changed.slice(to);
        break;
      case 1:
        changed = changed.slice(0, to) + changed.slice(at);
        break;
      case 2:
        changed = changed.slice(0, at) + (snippets[random() % snippets.length] ?? '') + changed.slice(at);
        break;
      case 3:
        changed = changed.slice(0, at) + (snippets[random() % snippets.length] ?? '') + changed.slice(to);
        break;
      case 4:
        lines.splice(random() % lines.length, 0, lines[random() % lines.length] ?? '');
        changed = lines.join('\n');
        break;
      default:
        lines.splice(random() % lines.length, 1);
        changed = lines.join('\n');
    }
  }
  return changed;
}
