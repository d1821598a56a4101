import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Header, Pax } from 'tar';
import { isNotFound } from '../../storage/folder-names.ts';
import { blockBytes, paddingOf, sumsName } from './archive-format.ts';
import type { DataFile } from './data-files.ts';

interface ArchiveObserver {
  bytesWritten(bytes: number): void;
  fileWritten(name: string): void;
  fileChanged(name: string): void;
}

const chunkBytes = 256 * 1024;

/**
 * Writes POSIX ustar, with pax headers where a name requires one, that ends with checksums in the format of
 * `sha256sum`. Memory use does not depend on the size or number of files. `sumsPath`: a new file for the
 * checksums.
 */
export async function* writeArchive(
  files: AsyncIterable<DataFile>,
  sumsPath: string,
  observer: ArchiveObserver,
): AsyncGenerator<Buffer> {
  const sums = await open(sumsPath, 'wx', 0o600);
  try {
    for await (const file of files) {
      const sum = yield* writeFile(file, observer);
      if (sum === undefined) observer.fileChanged(file.name);
      else await sums.write(`${sum}  ${file.name}\n`);
    }
  } finally {
    await sums.close();
  }
  yield* writeFile({ name: sumsName, path: sumsPath }, observer);
  yield Buffer.alloc(2 * blockBytes);
}

async function* writeFile(
  { name, path }: DataFile,
  observer: ArchiveObserver,
): AsyncGenerator<Buffer, string | undefined> {
  const handle = await openIfThere(path);
  if (handle === undefined) return undefined;
  const hash = createHash('sha256');
  try {
    const { size, mtime } = await handle.stat();
    yield* headersOf(name, size, mtime);
    for (let position = 0; position < size; ) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size - position));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) {
        // The header has already announced the bytes.
        observer.fileChanged(name);
        buffer.fill(0);
      }
      const chunk = bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
      position += chunk.length;
      hash.update(chunk);
      observer.bytesWritten(chunk.length);
      yield chunk;
    }
    yield Buffer.alloc(paddingOf(size));
  } finally {
    await handle.close();
  }
  observer.fileWritten(name);
  return hash.digest('hex');
}

function* headersOf(path: string, size: number, mtime: Date): Generator<Buffer> {
  const fields = { path, size, mtime, mode: 0o600, uid: 0, gid: 0, type: 'File' } as const;
  const header = new Header(fields);
  if (header.encode()) yield new Pax({ path, size, mtime }).encode();
  yield header.block!;
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
