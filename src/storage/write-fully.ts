import type { FileHandle } from 'node:fs/promises';

export async function writeFully(
  handle: FileHandle,
  body: readonly Buffer[],
  position: number,
): Promise<void> {
  let rest = body.filter(buffer => buffer.length > 0);
  let at = position;
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest, at);
    at += bytesWritten;
    let skip = bytesWritten;
    while (rest.length > 0 && skip >= rest[0]!.length) {
      skip -= rest[0]!.length;
      rest = rest.slice(1);
    }
    if (skip > 0) rest = [rest[0]!.subarray(skip), ...rest.slice(1)];
  }
}
