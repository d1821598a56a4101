import { ProcessOwner } from '../../src/ffmpeg/process/owned-process.ts';
import { type ChildLimits, ProcessLimits } from '../../src/ffmpeg/process/process-limits.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';

const limits = await ProcessLimits.find(process.env, silentLogger);

/** Limits that no test process comes near. */
export const ampleChildLimits: ChildLimits = {
  memoryBytes: 2 * 2 ** 30,
  cpuSeconds: 3600,
  outputBytes: 2 ** 30,
};

/** An owner of processes, as a server makes it. */
export function makeProcessOwner(log: Logger = silentLogger): ProcessOwner {
  return new ProcessOwner(limits, log);
}
