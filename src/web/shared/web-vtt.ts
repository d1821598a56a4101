import { parseCueTimes } from '../../shared/web-vtt/cue-times.ts';

interface VttCue {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly text: string;
}

/** Limits untrusted files. */
const maxCues = 20_000;

/**
 * Skips invalid cues: uploads are not checked. **Source**: WebVTT, W3C, 4.1, https://www.w3.org/TR/webvtt1/
 */
export function parseVtt(file: string): VttCue[] {
  const cues: VttCue[] = [];
  for (const block of file.replace(/\r\n?/g, '\n').split(/\n{2,}/)) {
    const lines = block.split('\n');
    // An identifier may precede the times.
    const timesAt = lines.slice(0, 2).findIndex(line => line.includes('-->'));
    if (timesAt === -1) continue;
    const times = parseCueTimes(lines[timesAt]!);
    if (times === undefined || times.endMs <= times.startMs) continue;
    cues.push({
      startSeconds: times.startMs / 1000,
      endSeconds: times.endMs / 1000,
      text: lines
        .slice(timesAt + 1)
        .join('\n')
        .trim(),
    });
    if (cues.length === maxCues) break;
  }
  return cues.sort((one, other) => one.startSeconds - other.startSeconds);
}

/** `cues` are sorted by start. */
export function cueAt<Cue extends { readonly startSeconds: number; readonly endSeconds: number }>(
  cues: readonly Cue[],
  seconds: number,
): Cue | undefined {
  let low = 0;
  let high = cues.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cues[middle]!.startSeconds <= seconds) low = middle + 1;
    else high = middle;
  }
  const cue = cues[low - 1];
  return cue !== undefined && seconds < cue.endSeconds ? cue : undefined;
}
