import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempDir, removeDir, removeTempDirs, testTempDir } from '../support/temp-dir.ts';

describe('folders of a test file', () => {
  test('are named after it, and gone at its end', async () => {
    const folders = [await makeTempDir(), await makeTempDir()];
    for (const folder of folders) expect(basename(folder)).toMatch(/^millrace-test-temp-dir-/);
    await removeTempDirs();
    expect(folders.filter(existsSync)).toEqual([]);
  });

  test('that are written to after they were removed fail it, and are gone', async () => {
    const folder = await makeTempDir();
    await removeDir(folder);
    mkdirSync(join(folder, 'late'), { recursive: true });
    await expect(removeTempDirs()).rejects.toThrow(`${folder}: late`);
    expect(existsSync(folder)).toBe(false);
    await removeTempDirs();
  });
});

describe.concurrent('folders of tests that run at the same time', () => {
  const bothHaveOne = Promise.withResolvers<void>();
  const otherHasEnded = Promise.withResolvers<void>();

  test('one keeps its folder', async () => {
    const folder = await testTempDir();
    bothHaveOne.resolve();
    await otherHasEnded.promise;
    expect(existsSync(folder)).toBe(true);
  });

  test('while another ends', async ({ onTestFinished }) => {
    onTestFinished(() => otherHasEnded.resolve());
    await testTempDir();
    await bothHaveOne.promise;
  });
});
