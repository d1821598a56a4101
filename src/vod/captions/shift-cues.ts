import { cueText, formatCueTime } from '../../shared/web-vtt/cue-text.ts';
import { parseCueTimes } from '../../shared/web-vtt/cue-times.ts';

export interface CueRange {
  /** Subtracted from all times. */
  readonly startMs: number;
  readonly durationMs: number;
}

const header = 'WEBVTT\n';
const maxLineChars = 10_000;

/**
 * Moves the cues of a WebVTT file that ffmpeg wrote, and leaves out those outside of the range. Styles of lines are dropped,
 * and empty lines inside of cues too.
 * @returns false without any cue
 */
export async function shiftCues(
  lines: AsyncIterable<string>,
  range: CueRange,
  write: (text: string) => Promise<void>,
): Promise<boolean> {
  let times: string | undefined;
  let isEmpty = true;
  for await (const line of lines) {
    if (parseCueTimes(line) !== undefined) {
      times = shiftCueTimes(line, range)?.times;
      continue;
    }
    const text = line.trim();
    if (text === '' || times === undefined) continue;
    if (times !== '') {
      await write(`${isEmpty ? header : ''}\n${times}\n`);
      isEmpty = false;
      times = '';
    }
    await write(`${cueText(text.slice(0, maxLineChars))}\n`);
  }
  return !isEmpty;
}

/** @param line with the times of a cue. Undefined when nothing of the cue is in the range, and for other lines. */
export function shiftCueTimes(line: string, { startMs, durationMs }: CueRange) {
  const found = parseCueTimes(line);
  if (found === undefined) return undefined;
  const beginMs = Math.max(0, found.startMs - startMs);
  const endMs = Math.min(durationMs, found.endMs - startMs);
  if (endMs <= beginMs) return undefined;
  const times = `${formatCueTime(beginMs)} --> ${formatCueTime(endMs)}`;
  return { times, settings: found.settings, beginMs, endMs };
}
