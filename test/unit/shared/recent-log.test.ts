import { expect, it } from 'vitest';
import { createLogger } from '../../../src/shared/logger.ts';
import { RecentLog } from '../../../src/shared/recent-log.ts';
import { reduceLogLine } from '../../../src/shared/reduce-log-line.ts';

it('keeps the lines before one of megabytes, and of that all but its texts', async () => {
  const recent = new RecentLog();
  const log = await createLogger({ level: 'info', pretty: false, sink: { write() {} }, recent });
  log.child('first').info('before');
  log.child('second').warn('huge', { bytes: 7, text: '\u001b[2J\n'.repeat(1_000_000) });
  expect(recent.lines().map(line => reduceLogLine(line))).toMatchObject([
    { level: 'info', component: 'first', event: 'before' },
    { level: 'warn', component: 'second', event: 'huge', bytes: 7 },
  ]);
  expect(recent.lines()[1]).not.toContain('u001b');
});

it('keeps a thousand lines, and at most half a million characters', () => {
  const recent = new RecentLog();
  for (let index = 0; index < 5_000; index += 1) recent.add(String(index));
  expect([recent.lines().length, recent.lines()[0]]).toEqual([1_000, '4000']);
  for (let index = 0; index < 5_000; index += 1) recent.add('x'.repeat(10_000));
  expect(recent.lines().length).toBe(52);
});
