import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { OpenedFile } from '../../src/shared/files/opened-file.ts';
import type { MediaStorage } from '../../src/storage/media-storage.ts';

/** A new file in a new place. */
export async function writeNew(path: string, bytes: Buffer): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  await writeFile(path, bytes, { flag: 'wx' });
  return path;
}

export async function readAll(storage: MediaStorage, path: string): Promise<Buffer> {
  const file = await storage.open(path);
  try {
    return await readRange(file, 0, Number.MAX_SAFE_INTEGER);
  } finally {
    await file.close();
  }
}

export async function readRange(file: OpenedFile, start: number, length: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let done = 0;
  while (done < length) {
    const into = Buffer.alloc(Math.min(300_000, length - done));
    const { bytesRead } = await file.read(into, 0, into.length, start + done);
    if (bytesRead === 0) break;
    chunks.push(into.subarray(0, bytesRead));
    done += bytesRead;
  }
  return Buffer.concat(chunks);
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
