import { format, inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createLogger } from '../../../src/shared/logger.ts';
import { maskStreamKey, Secret } from '../../../src/shared/secret.ts';

const text = 'correct-horse-battery';
const secret = new Secret(text);

test('is told when asked for, and only then', () => {
  expect(secret.reveal()).toBe(text);
});

test.each([
  ['a template', `${secret}`],
  ['concatenation', `a ${String(secret)}`],
  ['JSON', JSON.stringify({ secret, list: [secret] })],
  ['inspect', inspect({ deep: { secret } }, { depth: 9, showHidden: true })],
  ['format', format('%s %o %j', secret, secret, secret)],
  ['an error', inspect(new Error('with a secret', { cause: { secret } }))],
  ['its keys', JSON.stringify(Object.entries(secret))],
  ['a copy', JSON.stringify({ ...secret })],
])('%s does not print it', (_, printed) => {
  expect(printed).not.toContain(text);
});

test('a log line does not print it', async () => {
  const lines: string[] = [];
  const log = await createLogger({
    level: 'trace',
    pretty: false,
    sink: { write: line => void lines.push(line) },
  });
  log.child('test', { secret }).error('event', { secret, nested: { secret } });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('[secret]');
  expect(lines[0]).not.toContain(text);
});

test('a stream key may be told apart, not used', () => {
  expect(maskStreamKey('5f0f2c1e-7a44-4d0c-9b5e-2f6b1d9c8e37')).toBe('5f0f…');
});
