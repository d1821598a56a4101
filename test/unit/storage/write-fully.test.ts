import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeFully } from '../../../src/storage/write-fully.ts';
import { testTempDir } from '../../support/temp-dir.ts';

describe('writing fully', () => {
  it('writes one or several buffers at a position', async () => {
    const path = join(await testTempDir(), 'file');
    const handle = await open(path, 'w');
    await writeFully(handle, [Buffer.from('first ')], 0);
    await writeFully(
      handle,
      ['', 'sec', '', 'ond', ''].map(text => Buffer.from(text)),
      6,
    );
    await writeFully(handle, [Buffer.alloc(0)], 100);
    await handle.close();
    expect(await readFile(path, 'utf8')).toBe('first second');
  });

  it('rejects when the file cannot be written', async () => {
    const path = join(await testTempDir(), 'file');
    await (await open(path, 'w')).close();
    const handle = await open(path, 'r');
    await expect(writeFully(handle, [Buffer.from('any')], 0)).rejects.toMatchObject({ code: 'EBADF' });
    await expect(writeFully(handle, [Buffer.from('a'), Buffer.from('b')], 0)).rejects.toThrow('EBADF');
    await handle.close();
  });
});
