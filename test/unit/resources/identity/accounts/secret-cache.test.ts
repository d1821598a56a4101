import { expect, it } from 'vitest';
import { SecretCache } from '../../../../../src/resources/identity/accounts/secret-cache.ts';

it('caches what a secret stands for, but nothing that was read before a change', async () => {
  const cache = new SecretCache<{ name: string }>();
  let loads = 0;
  const load = async () => {
    loads += 1;
    return { name: `load ${loads}` };
  };
  const beforeChange = cache.getOrLoad('a secret', load);
  cache.clear();
  expect(await beforeChange).toEqual({ name: 'load 1' });
  expect(await cache.getOrLoad('a secret', load)).toEqual({ name: 'load 2' });
  expect(await cache.getOrLoad('a secret', load)).toEqual({ name: 'load 2' });
});
