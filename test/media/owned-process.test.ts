import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const room = new URL('../../src/', import.meta.url).href;

/** Uses up the descriptors that it may have, and starts a process. */
const script = `
  import { openSync } from 'node:fs';
  import { ProcessOwner } from '${room}ffmpeg/process/owned-process.ts';
  import { ProcessLimits } from '${room}ffmpeg/process/process-limits.ts';
  import { silentLogger } from '${room}shared/logger.ts';
  const owner = new ProcessOwner(await ProcessLimits.find(process.env, silentLogger), silentLogger);
  const limits = { memoryBytes: 2 ** 30, cpuSeconds: 60, outputBytes: 0 };
  process.on('uncaughtException', error => { console.log('uncaught', error.message); process.exit(1); });
  try { for (;;) openSync('/dev/null'); } catch {}
  let thrown = '';
  try { owner.start('/bin/cat', [], { outputs: 2, limits, ids: {} }); } catch (error) { thrown = error.message; }
  setTimeout(() => { console.log(thrown, owner.running); process.exit(0); }, 50);
`;

test('without file descriptors a process does not start, which is told at once and harms nothing else', async () => {
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    'ulimit -n 64 && exec "$0" --input-type=module -e "$1"',
    process.execPath,
    script,
  ]);
  expect(stdout.trim()).toBe('/bin/cat cannot be started: no file descriptors are left 0');
});
