import { expect, test } from 'vitest';
import { forbiddenWords } from '../../../scripts/forbidden-words.ts';

// Put together here, so that this file does not hold them.
const slash = '/';

test.each([
  ['a folder of one machine', `see ${slash}work/main`, `a path of one machine: ${slash}work/`],
  ['a home folder', `cd '${slash}home/someone/x'`, `a path of one machine: ${slash}home/someone/`],
  ['a registry', `https://registry.${'npmjs'}.org/x`, `a registry host: registry.${'npmjs'}.org`],
  ['unfinished work', `// ${'TO'}DO later`, `unfinished work: ${'TO'}DO`],
])('a file may not hold %s', (_what, line, held) => {
  expect(forbiddenWords('docs/a.md', `first\n${line}`)).toEqual([`docs/a.md:2: holds ${held}`]);
});

test.each([
  "import { AppError } from '../shared/errors.ts';",
  'ffmpeg -i pipe:0 -f mp4 /tmp/out.mp4',
  `https://example.com${slash}work/item and .${slash}root/file and src${slash}home/x/y`,
  'the register, and what was to do',
])('a file may hold: %s', line => {
  expect(forbiddenWords('docs/a.md', line)).toEqual([]);
});
