import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new empty folder. The caller removes it with `removeDir`, after what writes to it has stopped. */
export function makeTempDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'millrace-test-'));
}

/** Removes a folder with all in it; one that is not there is fine. */
export function removeDir(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 3 });
}

/** A new empty folder that is removed when the running test ends, whatever its outcome. Only inside a test. */
export async function testTempDir(): Promise<string> {
  const path = await makeTempDir();
  onTestFinished(() => removeDir(path));
  return path;
}
