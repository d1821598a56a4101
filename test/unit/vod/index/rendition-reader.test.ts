import { rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DataFolderStorage } from '../../../../src/storage/data-folder-storage.ts';
import { indexProgressive } from '../../../../src/vod/index/index-progressive.ts';
import { RenditionReader } from '../../../../src/vod/index/rendition-reader.ts';
import { gops, makeMovie } from '../../../support/progressive-movie.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

const dataFolder = new DataFolderStorage('/');

/** A folder with an index of this many segments of four seconds; the path of the index. */
async function makeIndex(segments: number): Promise<string> {
  const folder = await testTempDir();
  const samples = gops(
    Array.from({ length: segments }, () => 4),
    12_800,
  );
  const { bytes } = makeMovie([{ kind: 'video', timescale: 12_800, samples }]);
  await writeFile(join(folder, 'source'), bytes);
  const result = await indexProgressive(join(folder, 'source'), {
    folder,
    signal: new AbortController().signal,
  });
  if (result.kind === 'refused' || result.video === undefined) throw new Error('is indexed');
  return result.video.file;
}

describe('an index', () => {
  test('gives times, durations and parts of its segments', async () => {
    const rendition = await new RenditionReader(dataFolder).open(await makeIndex(3));
    expect(rendition.segmentCount).toBe(3);
    expect([0, 1, 2].map(index => rendition.startSeconds(index))).toEqual([0, 4, 8]);
    expect(rendition.durationSeconds(2)).toBe(4);
    const { parts, bytes } = await rendition.readSegment(1);
    // The frames of one track lie one after the other.
    expect(parts).toEqual([
      expect.any(Buffer),
      { path: expect.any(String), start: expect.any(Number), length: 52 },
    ]);
    expect(bytes).toBe((parts[0] as Buffer).length + 52);
  });

  test('has no segment beyond its last', async () => {
    const rendition = await new RenditionReader(dataFolder).open(await makeIndex(1));
    expect(() => rendition.startSeconds(1)).toThrow(expect.objectContaining({ code: 'server-error' }));
    for (const index of [1, -1, 0.5, Number.NaN]) {
      await expect(rendition.readSegment(index)).rejects.toMatchObject({ code: 'server-error' });
    }
  });

  test('is loaded once for all who ask', async () => {
    const reader = new RenditionReader(dataFolder);
    const path = await makeIndex(2);
    const [first, second] = await Promise.all([reader.open(path), reader.open(path)]);
    expect(second).toBe(first);
    expect(await reader.open(path)).toBe(first);
  });

  test('is loaded again when another took its place', async () => {
    const reader = new RenditionReader(dataFolder);
    const path = await makeIndex(2);
    expect((await reader.open(path)).segmentCount).toBe(2);
    const other = await makeIndex(5);
    await rename(join(other, '..', 'source'), join(path, '..', 'source'));
    await rename(other, path);
    expect((await reader.open(path)).segmentCount).toBe(5);
  });

  test('leaves memory when others were asked for since', async () => {
    const reader = new RenditionReader(dataFolder, { maxBytes: 8000 });
    const paths = [await makeIndex(2), await makeIndex(2), await makeIndex(2), await makeIndex(2)];
    const opened = [];
    for (const path of paths) {
      opened.push(await reader.open(path));
      expect(reader.cachedBytes).toBeLessThanOrEqual(8000);
    }
    expect(await reader.open(paths[3]!)).toBe(opened[3]);
    expect(await reader.open(paths[0]!)).not.toBe(opened[0]);
    // The open rendition still works.
    expect((await opened[0]!.readSegment(0)).bytes).toBeGreaterThan(52);
  });
});

describe('what cannot be served is an error of the server:', () => {
  test('no index', async () => {
    const path = join(await testTempDir(), 'video.index');
    await expect(new RenditionReader(dataFolder).open(path)).rejects.toMatchObject({ code: 'server-error' });
  });

  test('an index that is something else', async () => {
    const path = join(await testTempDir(), 'video.index');
    await writeFile(path, Buffer.alloc(5000, 'text'));
    await expect(new RenditionReader(dataFolder).open(path)).rejects.toMatchObject({ code: 'server-error' });
  });

  test('a media file that is gone, or not the one that was indexed', async () => {
    const path = await makeIndex(2);
    const source = join(path, '..', 'source');
    await truncate(source, 200);
    await expect(new RenditionReader(dataFolder).open(path)).rejects.toThrow(/has 200 bytes/);
    await rm(source);
    await expect(new RenditionReader(dataFolder).open(path)).rejects.toMatchObject({ code: 'server-error' });
  });
});
