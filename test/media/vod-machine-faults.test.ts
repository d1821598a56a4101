import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ffmpegBuild, ffprobePath } from '../support/ffmpeg.ts';
import { fixture } from '../support/fixtures.ts';
import { makeMediaTools } from '../support/media-tools.ts';
import { makePlainProcessOwner } from '../support/process-limits.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { startVodPipeline } from '../support/vod-pipeline.ts';
import { waitUntil } from '../support/wait-until.ts';

const faultsInARow = 2;

/** A program that fails twice when its words contain `when`, and then is `path`. */
async function failingProgram(path: string, when: string, fault: string): Promise<string> {
  const program = join(await testTempDir(), 'program');
  const script = `#!/bin/sh
case "$*" in *${when}*)
  n=$(cat '${program}.faults' 2>/dev/null || echo 0)
  if [ "$n" -lt ${faultsInARow} ]; then echo $((n + 1)) >'${program}.faults'; ${fault}; fi;;
esac
exec '${path}' "$@"
`;
  await writeFile(program, script);
  await chmod(program, 0o755);
  return program;
}

test.skipIf(process.platform !== 'linux').each([
  ['is killed as when memory runs out', 'kill -KILL $$', 'ran out of memory while processing this file'],
  [
    'finds no descriptors',
    'echo "x: Too many open files" >&2; exit 1',
    'ran out of memory, file descriptors or processes',
  ],
])('a video whose ffmpeg %s is tried again, and shows the reason', async (_fault, command, reason) => {
  const ffprobe = await failingProgram(ffprobePath, '-show_entries', command);
  const ffmpeg = await failingProgram(ffmpegBuild.path, 'libx264', command);
  const builds = {
    name: 'failing',
    ffmpeg: { ...ffmpegBuild, path: ffmpeg },
    ffprobe: { path: ffprobe, source: 'path' },
  } as const;
  const tools = makeMediaTools(builds, { owner: makePlainProcessOwner() });
  const pipeline = await startVodPipeline(await testTempDir(), { hasImages: false, context: { tools } });
  onTestFinished(async () => {
    await pipeline.stop();
    await tools.owner.stop();
  });
  const videoId = await pipeline.add(await fixture('hevc'));
  await waitUntil(async () => (await pipeline.jobs.delayOf(videoId))?.includes(reason));
  const state = await pipeline.settled(videoId);
  expect(state.failure).toBeUndefined();
  expect(new Set(state.renditions.map(({ status }) => status))).toEqual(new Set(['encoded']));
  expect(await pipeline.jobs.delayOf(videoId)).toBeUndefined();
  for (const program of [ffprobe, ffmpeg]) {
    expect(Number(await readFile(`${program}.faults`, 'utf8'))).toBe(faultsInARow);
  }
});
