import { expect, it } from 'vitest';
import { BatchedLookups } from '../../../src/shared/batched-lookups.ts';

it('reads what is asked for at the same time at once, and goes on after a failure', async () => {
  const reads: (readonly string[])[] = [];
  let isDown = false;
  const lookups = new BatchedLookups(async ids => {
    reads.push(ids);
    if (isDown) throw new Error('down');
    return new Map(ids.filter(id => id !== 'none').map(id => [id, `${id}!`]));
  });
  const found = await Promise.all(['a', 'b', 'a', 'none'].map(id => lookups.find(id)));
  expect(found).toEqual(['a!', 'b!', 'a!', undefined]);
  expect(reads).toEqual([['a', 'b', 'none']]);
  isDown = true;
  const refused = await Promise.allSettled(['a', 'b'].map(id => lookups.find(id)));
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isDown = false;
  expect(await lookups.find('b')).toBe('b!');
  await Promise.all(Array.from({ length: 1_001 }, (_, index) => lookups.find(`${index}`)));
  expect(reads.slice(3).map(ids => ids.length)).toEqual([500, 500, 1]);
});

it('refuses lookups while too many wait', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<Map<string, string>>();
  const lookups = new BatchedLookups(() => answered);
  const waiting = Promise.allSettled(Array.from({ length: 60_000 }, (_, index) => lookups.find(`${index}`)));
  answer(new Map());
  const refused = (await waiting).filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThanOrEqual(10_000);
  expect(await lookups.find('a')).toBeUndefined();
});
