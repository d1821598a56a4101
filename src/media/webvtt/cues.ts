import { formatCueTimes, parseCueTimes } from './cue-times.ts';
import { readLines } from './line-reader.ts';

interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  /** May have tags and references. */
  readonly text: string;
}

/** Limits untrusted files. */
export const maxCues = 20_000;

/** Reads the cues of a file, sorted by start. Skips what is invalid. */
export function parseCues(file: string): Cue[] {
  const cues: Cue[] = [];
  let times: ReturnType<typeof parseCueTimes>;
  let text: string[] = [];
  for (const { kind, line } of readLines(file)) {
    if (kind === 'times') times = parseCueTimes(line);
    else if (kind === 'text' && times !== undefined) text.push(line);
    if (kind !== 'end' || times === undefined) continue;
    const { startMs, endMs } = times;
    if (endMs > startMs) cues.push({ startMs, endMs, text: text.join('\n').trim() });
    if (cues.length === maxCues) break;
    times = undefined;
    text = [];
  }
  return cues.sort((one, other) => one.startMs - other.startMs);
}

/** **Source**: WebVTT, W3C, 4.1 */
export function formatCues(cues: readonly Cue[]): string {
  const blocks = cues.map(({ startMs, endMs, text }) => `\n${formatCueTimes(startMs, endMs)}\n${text}\n`);
  return `WEBVTT\n${blocks.join('')}`;
}
