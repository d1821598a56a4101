import { readBlocks, timesLineOf } from './block-reader.ts';
import { formatCueTimes, parseCueTimes } from './cue-times.ts';

export interface Cue {
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
  for (const block of readBlocks(file)) {
    const at = timesLineOf(block);
    const times = at === undefined ? undefined : parseCueTimes(block[at]!);
    if (at === undefined || times === undefined || times.endMs <= times.startMs) continue;
    const { startMs, endMs } = times;
    const text = block
      .slice(at + 1)
      .join('\n')
      .trim();
    cues.push({ startMs, endMs, text });
    if (cues.length === maxCues) break;
  }
  return cues.sort((one, other) => one.startMs - other.startMs);
}

/** **Source**: WebVTT, W3C, 4.1 */
export function formatCues(cues: readonly Cue[]): string {
  const blocks = cues.map(({ startMs, endMs, text }) => `\n${formatCueTimes(startMs, endMs)}\n${text}\n`);
  return `WEBVTT\n${blocks.join('')}`;
}
