import { write, writev } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/**
 * Writes all bytes. The owner keeps the file open meanwhile. Calls the file system by callback, which costs a third of the promises
 * of a `FileHandle`.
 */
export function writeFully(handle: FileHandle, body: readonly Buffer[], position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const writeFrom = (rest: readonly Buffer[], at: number) => {
      const [first] = rest;
      if (first === undefined) {
        resolve();
        return;
      }
      const onWritten = (error: Error | null, bytesWritten: number) => {
        if (error === null) writeFrom(withoutFirst(rest, bytesWritten), at + bytesWritten);
        else reject(error);
      };
      if (rest.length === 1) write(handle.fd, first, 0, first.length, at, onWritten);
      else writev(handle.fd, rest, at, onWritten);
    };
    writeFrom(withoutFirst(body, 0), position);
  });
}

/** Empty buffers are left out. */
function withoutFirst(buffers: readonly Buffer[], bytes: number): readonly Buffer[] {
  let skip = bytes;
  let index = 0;
  for (; index < buffers.length && skip >= buffers[index]!.length; index += 1) skip -= buffers[index]!.length;
  const rest = buffers.slice(index);
  if (skip > 0) rest[0] = rest[0]!.subarray(skip);
  return rest;
}
