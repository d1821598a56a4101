import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FilePartStore, type FilePartStoreOptions } from '../../../../src/live/window/file-part-store.ts';
import { LiveDiskSpace } from '../../../../src/live/window/live-disk-space.ts';
import { LiveFiles } from '../../../../src/live/window/live-files.ts';
import { LiveStorage } from '../../../../src/live/window/live-storage.ts';
import type { PartLocation } from '../../../../src/live/window/part-store.ts';
import type { FileSlice } from '../../../../src/shared/files/file-slice.ts';
import { type Logger, silentLogger } from '../../../../src/shared/logger.ts';
import { FreeSpaceWatch } from '../../../../src/storage/free-space-watch.ts';
import { MediaFiles } from '../../../../src/storage/media-files.ts';
import { writeFully } from '../../../../src/storage/write-fully.ts';
import { ManualClock } from '../../../support/filled-window.ts';
import { openFilesIn } from '../../../support/open-files.ts';
import { testTempDir } from '../../../support/temp-dir.ts';
import { waitUntil } from '../../../support/wait-until.ts';

const gib = 1024 ** 3;

/** A store in a new folder, on a disk with the given free space. */
async function openStore(options: Partial<FilePartStoreOptions> = {}) {
  const folder = join(await testTempDir(), 'source');
  const clock = new ManualClock();
  const lines: string[] = [];
  const note = (event: string, data?: Readonly<Record<string, unknown>>) =>
    void lines.push(`${event} ${data?.reason ?? data?.after ?? ''}`.trim());
  const log: Logger = { ...silentLogger, info: note, warn: note };
  const disk = { freeBytes: 10 * gib };
  const freeSpace = new FreeSpaceWatch({ freeBytes: async () => disk.freeBytes, clock, log });
  const diskSpace = new LiveDiskSpace({ freeSpace, minFreeBytes: gib, clock, log });
  const store = new FilePartStore({ files: new LiveFiles(folder, log), diskSpace, log, ...options });
  const places = new Map<number, PartLocation>();
  const bodies = new Map<number, Buffer>();
  const keep = (sequence: number, durationSeconds = 20) => {
    const body = [Buffer.alloc(50 + sequence, sequence), Buffer.alloc(0), Buffer.from(`end of ${sequence}`)];
    bodies.set(sequence, Buffer.concat(body));
    const bytes = bodies.get(sequence)!.length;
    store.write({ sequence, body, bytes, durationSeconds }, place => {
      store.retain(place.file);
      places.set(sequence, place);
    });
  };
  const read = async (sequence: number) =>
    slice(store.slice(places.get(sequence)!, bodies.get(sequence)!.length));
  return { folder, clock, lines, disk, freeSpace, room: diskSpace, store, places, bodies, keep, read };
}

async function slice({ path, start, length }: FileSlice): Promise<Buffer> {
  return (await readFile(path)).subarray(start, start + length);
}

test('writes segments to files of a minute each, and reads them back', async () => {
  const { store, folder, keep, read, bodies } = await openStore();
  for (let sequence = 2; sequence <= 9; sequence += 1) keep(sequence);
  await store.settled();
  expect((await readdir(folder)).sort()).toEqual(['1.m4s', '2.m4s', '3.m4s']);
  for (const [sequence, body] of bodies) expect(await read(sequence)).toEqual(body);
  await store.close();
});

test('removes a file when it is complete and nothing in it is needed', async () => {
  const { store, folder, keep, places } = await openStore();
  for (let sequence = 2; sequence <= 9; sequence += 1) keep(sequence);
  await store.settled();
  for (const sequence of [2, 3, 5, 6, 7, 8, 9]) store.release(places.get(sequence)!.file);
  await waitUntil(async () => (await readdir(folder)).length === 2);
  expect((await readdir(folder)).sort()).toEqual(['1.m4s', '3.m4s']);
  store.release(places.get(4)!.file);
  await store.close();
  await waitUntil(async () => (await readdir(folder)).length === 0);
});

test('closes its file when it finishes, and everything can be read', async () => {
  const { store, folder, keep, read, bodies } = await openStore();
  for (let sequence = 2; sequence <= 6; sequence += 1) keep(sequence);
  await store.settled();
  expect(openFilesIn(folder)).toHaveLength(1);
  store.finish();
  await waitUntil(() => openFilesIn(folder).length === 0);
  for (const [sequence, body] of bodies) expect(await read(sequence)).toEqual(body);
  await store.close();
});

test('creates a removed folder again, so that one broadcast does not stop the others', async () => {
  const { store, clock, folder, keep, read, bodies, room } = await openStore({ chunkSeconds: 10 });
  keep(2);
  await store.settled();
  await rm(folder, { recursive: true });
  keep(3);
  await store.settled();
  expect(room.hasSpace()).toBe(false);
  clock.passedMs += 10_000;
  keep(4);
  await store.settled();
  expect(room.hasSpace()).toBe(true);
  expect(await read(4)).toEqual(bodies.get(4));
  await store.close();
});

test('a failed write drops the queue, is logged once, and writing resumes in another file', async () => {
  let isFull = false;
  const { store, clock, lines, keep, read, bodies, places } = await openStore({
    write: async (handle, body, position) => {
      if (!isFull) return writeFully(handle, body, position);
      await handle.write(body[0]!, 0, 10, position);
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    },
  });
  keep(2);
  await store.settled();
  isFull = true;
  keep(3);
  keep(4);
  await store.settled();
  keep(5);
  expect(lines).toEqual(['rewind-paused disk-full']);
  isFull = false;
  clock.passedMs += 11_000;
  keep(6);
  await store.settled();
  expect([...places.keys()]).toEqual([2, 6]);
  expect(places.get(6)).toEqual({ file: 2, offset: 0 });
  for (const sequence of places.keys()) expect(await read(sequence)).toEqual(bodies.get(sequence));
  expect(lines).toEqual(['rewind-paused disk-full', 'rewind-resumed disk-full']);
  await store.close();
});

test('writing pauses while too little is free, and resumes with a little more', async () => {
  const { store, clock, disk, room, freeSpace, lines, keep, places } = await openStore();
  disk.freeBytes = 0.99 * gib;
  await freeSpace.check();
  keep(2);
  disk.freeBytes = 1.05 * gib;
  await freeSpace.check();
  keep(3);
  expect(lines).toEqual(['rewind-paused disk-low']);
  disk.freeBytes = 1.2 * gib;
  clock.passedMs += 6000;
  // Writes again, which checks the disk.
  keep(4);
  await waitUntil(() => room.hasSpace());
  keep(5);
  await store.settled();
  expect([...places.keys()]).toEqual([5]);
  expect(lines).toEqual(['rewind-paused disk-low', 'rewind-resumed disk-low']);
  await store.close();
});

test('a cancelled write is not run, and writes run one at a time', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const { store, keep, places, lines } = await openStore({
    write: async (handle, body, position) => {
      running += 1;
      most = Math.max(most, running);
      await gate;
      await writeFully(handle, body, position);
      running -= 1;
    },
  });
  for (const sequence of [2, 3, 4]) keep(sequence);
  store.cancelWrite(3);
  store.cancelWrite(99);
  open();
  await store.settled();
  expect([...places.keys()]).toEqual([2, 4]);
  expect(most).toBe(1);
  expect(lines[0]).toBe('rewind-paused disk-slow');
  await store.close();
});

test('a start removes the folders of former broadcasts, but no thumbnails and no running broadcasts', async () => {
  const dataDir = await testTempDir();
  const files = new MediaFiles(dataDir);
  const [stream, left, runs] = ['li', 'br', 'br'].map((prefix, index) => prefix + String(index).repeat(22));
  await mkdir(files.live(stream!, left!), { recursive: true });
  await writeFile(files.live(stream!, left!, '1.m4s'), 'old');
  await writeFile(files.live(stream!, 'thumbnail.jpg'), 'image');
  const storage = new LiveStorage({
    files,
    rewindSeconds: 60,
    freeSpace: new FreeSpaceWatch({
      freeBytes: () => files.freeBytes(),
      clock: new ManualClock(),
      log: silentLogger,
    }),
    minFreeBytes: 0,
    clock: new ManualClock(),
    log: silentLogger,
  });
  const broadcast = storage.open({ liveStreamId: stream!, broadcastId: runs!, isKeptAfterEnd: true });
  const store = broadcast.store('source');
  await new Promise<void>(resolve =>
    store.write({ sequence: 2, body: [Buffer.from('new')], bytes: 3, durationSeconds: 2 }, () => resolve()),
  );
  await storage.start();
  await waitUntil(async () => !(await readdir(files.live(stream!))).includes(left!));
  expect((await readdir(files.live(stream!))).sort()).toEqual([runs, 'thumbnail.jpg']);
  broadcast.remove();
  broadcast.remove();
  await storage.stop();
  expect(await readdir(files.live(stream!))).toEqual(['thumbnail.jpg']);
  store.write({ sequence: 3, body: [Buffer.from('late')], bytes: 4, durationSeconds: 2 }, () => {
    throw new Error('written after the end');
  });
});
