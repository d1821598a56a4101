import type { Random } from '../../../support/random.ts';

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
export function mutateText(text: string, random: Random): string {
  let changed = text;
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(changed.length + 1);
    const to = at + random.below(30);
    const lines = changed.split('\n');
    switch (random.below(6)) {
      case 0:
        changed = changed.slice(0, at) + changed.slice(to);
        break;
      case 1:
        changed = changed.slice(0, to) + changed.slice(at);
        break;
      case 2:
        changed = changed.slice(0, at) + (snippets[random.below(snippets.length)] ?? '') + changed.slice(at);
        break;
      case 3:
        changed = changed.slice(0, at) + (snippets[random.below(snippets.length)] ?? '') + changed.slice(to);
        break;
      case 4:
        lines.splice(random.below(lines.length), 0, lines[random.below(lines.length)] ?? '');
        changed = lines.join('\n');
        break;
      default:
        lines.splice(random.below(lines.length), 1);
        changed = lines.join('\n');
    }
  }
  return changed;
}
