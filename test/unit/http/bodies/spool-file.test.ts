import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { SpoolFile } from '../../../../src/http/bodies/spool-file.ts';
import { AppError } from '../../../../src/shared/errors.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

const mebibyte = 1_048_576;
const roomy = async () => {};

/** Numbered bytes in memory of their own each, as they come from a connection. */
function* chunks(count: number, bytes: number): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) yield Buffer.from(new Uint8Array(bytes).fill(index).buffer);
}

describe('a file that is received', () => {
  it.each([
    [0, 1],
    [1, 1],
    [3, 10],
    [100, 65_536],
    [7, 3 * mebibyte],
    [300, 9_999],
  ])('has all of %d chunks of %d bytes, in their order, and their digest', async (count, bytes) => {
    const path = join(await testTempDir(), 'file');
    const spool = new SpoolFile({ path, needsDigest: true, checkFreeSpace: roomy });
    const whole = Buffer.concat([...chunks(count, bytes)]);
    await pipeline(chunks(count, bytes), spool);
    expect(whole.equals(await readFile(path))).toBe(true);
    expect(spool.bytesWritten).toBe(whole.length);
    expect(spool.takeDigest()).toEqual(hash('sha256', whole, 'buffer'));
  });

  it('keeps a chunk that shares its memory with another', async () => {
    const path = join(await testTempDir(), 'file');
    const spool = new SpoolFile({ path, needsDigest: false, checkFreeSpace: roomy });
    const memory = Buffer.from(new ArrayBuffer(2 * mebibyte)).fill(7);
    spool.write(memory.subarray(0, mebibyte));
    spool.end(memory.subarray(mebibyte));
    await finished(spool);
    expect(Buffer.alloc(2 * mebibyte, 7).equals(await readFile(path))).toBe(true);
    expect(spool.takeDigest()).toBeUndefined();
  });

  it.skipIf(!existsSync('/dev/full'))('ends with disk-full on a full disk', async () => {
    const spool = new SpoolFile({ path: '/dev/full', needsDigest: false, checkFreeSpace: roomy });
    await expect(pipeline(chunks(40, 65_536), spool)).rejects.toMatchObject({ code: 'disk-full' });
  });

  it('ends with disk-full when too little room is left while it comes', async () => {
    const path = join(await testTempDir(), 'file');
    let asked = 0;
    const checkFreeSpace = async () => {
      asked += 1;
      throw new AppError('disk-full');
    };
    const spool = new SpoolFile({ path, needsDigest: false, checkFreeSpace });
    await expect(pipeline(chunks(70, mebibyte), spool)).rejects.toMatchObject({ code: 'disk-full' });
    expect(asked).toBe(1);
  });
});
