import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FoundIsolation, findIsolation } from '../../src/ffmpeg/process/find-isolation.ts';
import { ProcessOwner } from '../../src/ffmpeg/process/owned-process.ts';
import { type ChildLimits, ProcessLimits } from '../../src/ffmpeg/process/process-limits.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { ffmpegPath, ffprobePath } from './ffmpeg.ts';

const plainLimits = await ProcessLimits.find(process.env, silentLogger);

/** Finds the sandbox that a server with this data folder would use, where one works. */
export async function findTestIsolation(dataDir: string): Promise<FoundIsolation> {
  return findIsolation({
    setting: 'auto',
    limits: plainLimits,
    programs: [
      { name: 'ffmpeg', path: ffmpegPath, source: 'path' },
      { name: 'ffprobe', path: ffprobePath, source: 'path' },
    ],
    dataDir,
    inWorkFolder: async work => {
      const folder = await mkdtemp(join(dataDir, 'millrace-isolation-'));
      return work(folder).finally(() => rm(folder, { recursive: true }));
    },
    variables: process.env,
  });
}

const { limits } = await findTestIsolation(tmpdir());

/** Limits that no test process comes near. */
export const ampleChildLimits: ChildLimits = {
  memoryBytes: 2 * 2 ** 30,
  cpuSeconds: 3600,
  outputBytes: 2 ** 30,
};

/** An owner of processes without a sandbox: for scripts in place of ffmpeg, which start other programs. */
export function makePlainProcessOwner(): ProcessOwner {
  return new ProcessOwner(plainLimits, silentLogger);
}

/** An owner of processes, as a server makes it. */
export function makeProcessOwner(log: Logger = silentLogger): ProcessOwner {
  return new ProcessOwner(limits, log);
}
