import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { Progress } from '../../../../src/cli/backup/progress.ts';

/** Shows 40 MB in steps of 10 MB and 20 s. */
function shownOn(isTTY: boolean): string {
  let text = '';
  const out = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        text += chunk;
        done();
      },
    }),
    { isTTY },
  );
  let nowMs = 0;
  const progress = new Progress(out, () => nowMs);
  progress.begin('Backing up', 35_000_000);
  for (let step = 0; step < 4; step += 1) {
    nowMs += 20_000;
    progress.add(10_000_000);
  }
  progress.end();
  return text;
}

test('progress is a line each 30 s in a log, and never says that it is done', () => {
  expect(shownOn(false)).toBe('Backing up: 20.0 MB of 35.0 MB, 57 %\nBacking up: 40.0 MB of 35.0 MB, 99 %\n');
});

test('progress is one line on a terminal, which is cleared at the end', () => {
  const lines = shownOn(true).split('\r\u001b[K');
  expect(lines).toHaveLength(6);
  expect(lines.at(-2)).toBe('Backing up: 40.0 MB of 35.0 MB, 99 %');
  expect(lines.at(-1)).toBe('');
});
