import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SliceCache } from '../../../../src/delivery/responses/slice-cache.ts';
import type { ResponseBody } from '../../../../src/shared/viewer-responses.ts';
import { makeTempDir, removeDir } from '../../../support/temp-dir.ts';

const folder = await makeTempDir();
afterAll(() => removeDir(folder));
const path = join(folder, 'media.mp4');
const media = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 256));
await writeFile(path, media);

/** A new object each time, as every request gets. */
const slice = (start: number, length: number, etag = '"a"'): ResponseBody => ({
  parts: [
    { path, start, length: length - 1 },
    { path, start: start + 500, length: 1 },
  ],
  bytes: length,
  contentType: 'video/mp4',
  etag,
});

it('reads a body into memory when it is asked for again, once for all', async () => {
  const cache = new SliceCache(path => open(path));
  expect(cache.find(slice(10, 100))).toBeUndefined();
  const [reading, other] = [cache.find(slice(10, 100)), cache.find(slice(10, 100))];
  expect(reading).toBeInstanceOf(Promise);
  expect(other).toBe(reading);
  const body = await reading;
  expect(Buffer.concat(body!.parts as Buffer[])).toEqual(
    Buffer.concat([media.subarray(10, 109), media.subarray(510, 511)]),
  );
  expect(cache.find(slice(10, 100))).toBe(body);
});

it('tells slices and versions of a file apart', async () => {
  const cache = new SliceCache(path => open(path));
  void cache.find(slice(10, 100));
  await cache.find(slice(10, 100));
  for (const other of [slice(11, 100), slice(10, 99), slice(10, 100, '"b"')]) {
    expect(cache.find(other)).toBeUndefined();
  }
});

it('leaves long bodies, and files that are gone or too short, to those who send them', async () => {
  const cache = new SliceCache(path => open(path));
  const long = slice(0, 1024 * 1024 + 1);
  const gone: ResponseBody = { ...slice(0, 5), parts: [{ path: `${path}.gone`, start: 0, length: 5 }] };
  for (const body of [long, gone, slice(900, 200)]) {
    void cache.find(body);
    expect(await cache.find(body)).toBeUndefined();
  }
});

it('lends no more while much is on its way to slow viewers', async () => {
  const cache = new SliceCache(path => open(path));
  void cache.find(slice(10, 100));
  await cache.find(slice(10, 100));
  const taken = cache.lend(32 * 1024 * 1024);
  expect(cache.find(slice(10, 100))).toBeUndefined();
  taken();
  expect(cache.find(slice(10, 100))).toBeDefined();
});
