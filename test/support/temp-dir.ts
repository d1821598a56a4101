import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, TestRunner } from 'vitest';

/** Part of the names of folders, so that one that is left tells who made it. Sockets in folders allow only short names. */
let owner = 'run';
const made = new Set<string>();
const removed = new Set<string>();

/** Names the folders of a test file, which calls it at its start (`remove-temp-dirs.ts`). */
export function nameTempDirs(): void {
  owner = basename(expect.getState().testPath ?? '', '.test.ts').slice(0, 24);
}

/** A new empty folder, which is removed when the test file ends, if not before. The caller removes it with `removeDir` where others would use its space. */
export async function makeTempDir(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), `millrace-test-${owner}-`));
  made.add(path);
  return path;
}

/** Removes a folder with all in it; one that is not there is fine. */
export async function removeDir(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
  if (made.delete(path)) removed.add(path);
}

/** A new empty folder that is removed when the running test ends, whatever its outcome. Only inside a test. */
export async function testTempDir(): Promise<string> {
  const path = await makeTempDir();
  // Skips concurrent tests: Vitest cannot tell which one this is.
  if (TestRunner.getCurrentTest()?.concurrent !== true) onTestFinished(() => removeDir(path));
  return path;
}

/** Removes the folders of the file. @throws when one is there again that was removed: what wrote to it was not stopped */
export async function removeTempDirs(): Promise<void> {
  const again = [...removed].filter(path => existsSync(path));
  const written = again.map(path => `${path}: ${readdirSync(path, { recursive: true }).join(', ')}`);
  await Promise.all([...made, ...again].map(path => removeDir(path)));
  removed.clear();
  if (written.length > 0) throw new Error(`written to after they were removed: ${written.join('; ')}`);
}
