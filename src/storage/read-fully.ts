import { read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Twice as fast as `FileHandle.read`: a recording may have hundreds of thousands of fragments to read. */
const readFrom = promisify(read);

/** Returns fewer bytes only at the end of the file. */
export async function readFully({ fd }: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await readFrom(fd, bytes, done, length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}
