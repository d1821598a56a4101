import { expect, test, vi } from 'vitest';
import { PlaylistCache } from '../../../../src/vod/playback/playlist-cache.ts';

test('a playlist is rendered once for concurrent requests', async () => {
  const texts = new PlaylistCache(1000);
  const render = vi.fn(async () => 'text');
  const [first, second] = await Promise.all([texts.get('a', render), texts.get('a', render)]);
  expect(await texts.get('a', render)).toBe(first);
  expect(second).toBe(first);
  expect(first.plain.toString()).toBe('text');
  expect(render).toHaveBeenCalledTimes(1);
});

test('the least recently used playlist is removed first', async () => {
  const texts = new PlaylistCache(10);
  const made: string[] = [];
  const get = (key: string) =>
    texts.get(key, async () => {
      made.push(key);
      return key.repeat(4);
    });
  for (const key of ['a', 'b', 'a', 'c']) await get(key);
  expect(made).toEqual(['a', 'b', 'c']);
  await get('a');
  await get('c');
  expect(made).toEqual(['a', 'b', 'c']);
  await get('b');
  expect(made).toEqual(['a', 'b', 'c', 'b']);
});

test('a playlist larger than the cache is returned but not cached', async () => {
  const texts = new PlaylistCache(10);
  const render = vi.fn(async () => 'x'.repeat(11));
  expect((await texts.get('a', render)).plain).toHaveLength(11);
  await texts.get('a', render);
  expect(render).toHaveBeenCalledTimes(2);
});

test('a failure rejects all concurrent requests and is not cached', async () => {
  const texts = new PlaylistCache(1000);
  const fault = new Error('no');
  const failing = () => Promise.reject(fault);
  const asked = [texts.get('a', failing), texts.get('a', failing)];
  for (const one of asked) await expect(one).rejects.toBe(fault);
  expect((await texts.get('a', async () => 'text')).plain.toString()).toBe('text');
});
