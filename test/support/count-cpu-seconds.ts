/** Counts the CPU seconds of each test file, for `scripts/test-file-reporter.ts`: of its process, and of all that it started. */
import { afterAll, afterEach } from 'vitest';
import { cpuSecondsOfFile, noteCpuSeconds } from './cpu-seconds.ts';
import { hasProc } from './processes.ts';

if (hasProc && process.env.MILLRACE_TEST_REPORT !== undefined) {
  afterEach(() => {
    // Reads processes only when there are any, because that takes some milliseconds.
    if (process.getActiveResourcesInfo().includes('ProcessWrap')) noteCpuSeconds();
  });
  // biome-ignore lint/correctness/noEmptyPattern: Vitest takes nothing else where no fixture is used.
  afterAll(({}, { file }) => {
    file.meta.cpuSeconds = cpuSecondsOfFile();
  });
}
