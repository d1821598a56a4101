import { treeCpuSeconds } from '../../scripts/bench/process-usage.ts';

let lastSeconds = 0;
let lostSeconds = 0;
let reportedSeconds = 0;

/** Notes how much is used so far: what nobody waits for, such as the pages of a browser that closes, is gone afterwards. */
export function noteCpuSeconds(): void {
  const seconds = treeCpuSeconds(process.pid);
  lostSeconds += Math.max(0, lastSeconds - seconds);
  lastSeconds = seconds;
}

/** Returns what this process and its descendants used since the last call. Several files may share the process. */
export function cpuSecondsOfFile(): number {
  noteCpuSeconds();
  const seconds = lastSeconds + lostSeconds - reportedSeconds;
  reportedSeconds += seconds;
  return seconds;
}
