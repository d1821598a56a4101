import { expect, test } from 'vitest';
import { keptLog } from '../support/server-logs.ts';
import { waitUntil } from '../support/wait-until.ts';

async function failureOf(waiting: Promise<unknown>): Promise<Error> {
  return waiting.then(
    () => expect.unreachable('the wait ended'),
    (error: Error) => error,
  );
}

test('a wait in vain tells its condition, what that gave last, and the end of the servers’ logs', async () => {
  for (let number = 1; number <= 40; number += 1) keptLog.info('event', { number });
  const { message } = await failureOf(waitUntil(() => 1 > 2, { timeoutMs: 20 }));
  const [first, second, ...lines] = message.split('\n');
  expect(first).toMatch(/^waited 20 ms in vain for \(\) => 1 > 2; it was false \(looks: \d+\)$/);
  expect(second).toBe('Last lines of the servers of this process:');
  expect(lines).toHaveLength(30);
  expect(lines.at(-1)).toContain('"event":"event","number":40');
});

test('a wait in vain tells why its condition failed', async () => {
  const fail = () => {
    throw new Error('refused');
  };
  const { message, cause } = await failureOf(waitUntil(fail, { what: 'an answer', timeoutMs: 20 }));
  expect(message).toMatch(/^waited 20 ms in vain for an answer; it failed with: refused \(looks: \d+\)\n/);
  expect(cause).toEqual(new Error('refused'));
});
