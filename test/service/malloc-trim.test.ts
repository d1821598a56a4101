import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Frees 120 MiB between buffers that stay, so that glibc alone returns none of it. */
const script = `
  const { trimMalloc } = await import(process.argv[1]);
  const kept = [];
  let freed = [];
  for (let index = 0; index < 2000; index += 1) {
    freed.push(Buffer.allocUnsafeSlow(60_000).fill(1));
    kept.push(Buffer.allocUnsafeSlow(2000).fill(1));
  }
  freed = undefined;
  while (process.memoryUsage().arrayBuffers > 30e6) {
    gc();
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  const before = process.memoryUsage.rss();
  trimMalloc();
  const after = process.memoryUsage.rss();
  trimMalloc();
  console.log(JSON.stringify({ before, after, kept: kept.length, libc: process.report.getReport().header.glibcVersionRuntime }));
`;

it('returns memory between used memory to the system', async ({ skip }) => {
  const module = new URL('../../src/store/malloc-trim.ts', import.meta.url).href;
  const words = ['--expose-gc', '--input-type=module', '-e', script, module];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  const { before, after, libc } = JSON.parse(stdout);
  skip(libc === undefined, 'the C library is not glibc');
  expect(before - after).toBeGreaterThan(80e6);
});
