import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AppError } from '../../../src/shared/errors.ts';
import { namesIn } from '../../../src/storage/folder-names.ts';
import { MediaFiles } from '../../../src/storage/media-files.ts';
import { replaceFile } from '../../../src/storage/replace-file.ts';
import { testTempDir } from '../../support/temp-dir.ts';

async function replaceWith(commit: () => Promise<string | undefined>): Promise<string[]> {
  const dataDir = await testTempDir();
  const files = new MediaFiles(dataDir);
  const folder = files.player('pl1');
  const from = join(dataDir, 'new');
  for (const name of ['old.png', 'new.png']) {
    await writeFile(from, name);
    const isOld = name === 'old.png';
    await replaceFile(files, { from, folder, name }, isOld ? async () => undefined : commit).catch(() => {});
  }
  expect(await readdir(dataDir)).toEqual(['players']);
  return (await namesIn(folder)).sort();
}

test('a file replaces another one once its row is written', async () => {
  expect(await replaceWith(async () => 'old.png')).toEqual(['new.png']);
});

test('a file that no row names is removed', async () => {
  expect(await replaceWith(() => Promise.reject(new AppError('resource-not-found')))).toEqual(['old.png']);
  expect(await replaceWith(() => Promise.reject(new Error('a broken rule')))).toEqual(['old.png']);
});

test('a file stays when its row may have been written', async () => {
  const fault = new AppError('database-unusable', 'the connection was lost');
  expect(await replaceWith(() => Promise.reject(fault))).toEqual(['new.png', 'old.png']);
});
