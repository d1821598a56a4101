import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { box } from '../../src/media/cmaf/box-writer.ts';
import { indexProgressive } from '../../src/vod/index/index-progressive.ts';
import { type IndexWorkerLimits, IndexWorkerPool } from '../../src/vod/index/index-worker-pool.ts';
import { allowedBlockMs, EventLoopBlock } from '../support/event-loop-block.ts';
import { openFilesIn } from '../support/open-files.ts';
import { aacEntry, gops, makeMovie, sounds } from '../support/progressive-movie.ts';
import { testTempDir } from '../support/temp-dir.ts';

const MIB = 2 ** 20;
const video = { kind: 'video', timescale: 12_800, samples: gops([50, 50], 512) } as const;
const audio = { kind: 'audio', timescale: 48_000, samples: sounds(188) } as const;
const signal = new AbortController().signal;

function threadsWith(limits: Partial<IndexWorkerLimits> = {}): IndexWorkerPool {
  const threads = new IndexWorkerPool({
    timeoutMs: 60_000,
    memoryBytes: 64 * MIB,
    maxMovieBytes: 32 * MIB,
    ...limits,
  });
  onTestFinished(() => threads.stop());
  return threads;
}

async function written(bytes: Buffer) {
  const folder = await testTempDir();
  const path = join(folder, 'source');
  await writeFile(path, bytes);
  return { folder, path };
}

test('a thread indexes a file like the main thread, and is reused', async () => {
  const { folder, path } = await written(makeMovie([video, audio]).bytes);
  const threads = threadsWith();
  const inThread = await threads.index(path, { folder, signal });
  expect(inThread).toEqual(await indexProgressive(path, { folder, signal }));
  await writeFile(path, 'no film');
  expect(await threads.index(path, { folder, signal })).toEqual({
    kind: 'refused',
    reason: 'The file must be encoded: it is damaged (box "file": has no "moov").',
  });
  expect(threads.threads).toBe(1);
});

test('a thread is ready for a file that is about to arrive, and describes it', async () => {
  const { path } = await written(makeMovie([video, audio]).bytes);
  const threads = threadsWith();
  threads.warm();
  threads.warm();
  expect(threads.threads).toBe(1);
  // The frames are no pictures, so that only ffprobe can tell.
  expect(await threads.describe(path, signal)).toBeUndefined();
  expect(await threads.describe(`${path}-that-is-gone`, signal)).toBeUndefined();
  expect(threads.threads).toBe(1);
});

test('a thread whose answer crosses its end is not used again', async () => {
  const { folder, path } = await written(makeMovie([video, audio]).bytes);
  const threads = threadsWith();
  const blocked = new Int32Array(new SharedArrayBuffer(4));
  await threads.index(path, { folder, signal });
  const abort = new AbortController();
  const aborted = threads.index(path, { folder, signal: abort.signal });
  // The answer is there, and the thread has ended, before this one hears of either.
  setImmediate(() => {
    Atomics.wait(blocked, 0, 0, 500);
    abort.abort(new Error('cancelled'));
    Atomics.wait(blocked, 0, 0, 500);
  });
  await aborted.catch(() => {});
  expect(await threads.index(path, { folder, signal })).toEqual(
    await indexProgressive(path, { folder, signal }),
  );
});

test('a file of millions of empty boxes is refused without blocking the server', async () => {
  const boxes = Buffer.alloc(16 * MIB, box('free'));
  const hostile = { ...audio, entries: [aacEntry(), boxes] };
  const { folder, path } = await written(makeMovie([hostile]).bytes);
  const threads = threadsWith();
  const turns = new EventLoopBlock();
  const result = await threads.index(path, { folder, signal });
  expect(turns.stop()).toBeLessThan(allowedBlockMs);
  expect(result).toEqual({
    kind: 'refused',
    reason: expect.stringContaining('box "stsd": has more than 4096 boxes'),
  });
});

test('a moov above the limit is not read', async () => {
  const { folder, path } = await written(
    makeMovie([video], { movieBoxes: [box('free', Buffer.alloc(MIB))] }).bytes,
  );
  expect(await threadsWith({ maxMovieBytes: MIB }).index(path, { folder, signal })).toEqual({
    kind: 'refused',
    reason: expect.stringContaining('the maximum is 1048576'),
  });
});

test('a file whose index takes too long to read is refused and leaves no files', async () => {
  const { folder, path } = await written(makeMovie([video, audio]).bytes);
  const threads = threadsWith({ timeoutMs: 1 });
  expect(await threads.index(path, { folder, signal })).toEqual({
    kind: 'refused',
    reason: 'The file must be encoded: reading its index takes longer than 0.001 s.',
  });
  expect(threads.threads).toBe(0);
  expect(await readdir(folder)).toEqual(['source']);
  expect(openFilesIn(folder)).toEqual([]);
});

test('a file whose index needs too much memory is refused, and the next thread has its own', async () => {
  const { folder, path } = await written(makeMovie([video, audio]).bytes);
  // Limits the memory to less than the parser's own code needs.
  const threads = threadsWith({ memoryBytes: 4 * MIB });
  for (const _ of [1, 2]) {
    expect(await threads.index(path, { folder, signal })).toEqual({
      kind: 'refused',
      reason: 'The file must be encoded: reading its index needs more than 4 MiB of memory.',
    });
  }
  expect(threads.threads).toBe(0);
});

test('an aborted file is released immediately', async () => {
  const { folder, path } = await written(makeMovie([video, audio]).bytes);
  const threads = threadsWith();
  const controller = new AbortController();
  const reason = new Error('no longer wanted');
  const indexed = threads.index(path, { folder, signal: controller.signal });
  controller.abort(reason);
  await expect(indexed).rejects.toBe(reason);
  expect(threads.threads).toBe(0);
});

test('stopping ends the threads and their work', async () => {
  const { folder, path } = await written(makeMovie([video, audio]).bytes);
  const threads = threadsWith();
  const indexed = threads.index(path, { folder, signal });
  const [outcome] = await Promise.allSettled([indexed, threads.stop()]);
  expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'stopped' } });
  expect(threads.threads).toBe(0);
});

test('an unreadable file is a system error', async () => {
  const { folder } = await written(Buffer.alloc(1));
  const indexed = threadsWith().index(join(folder, 'missing'), { folder, signal });
  await expect(indexed).rejects.toMatchObject({ code: 'ENOENT' });
});
