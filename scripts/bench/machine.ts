import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

/** Describes the machine without naming it. */
export function describeMachine(ffmpegVersion: string): string {
  const processors = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  return `${model}, ${processors.length} cores, ${gibibytes} GiB; Node ${process.versions.node}; ffmpeg ${ffmpegVersion}`;
}

/** Keeps a process, its threads and what it starts from now on to one core. False where that cannot be done. */
export function pinToCore(pid: number, core: number): boolean {
  if (cpus().length <= core) return false;
  try {
    execFileSync('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
