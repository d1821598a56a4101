import { cueText, formatCueTime } from '../../shared/text/cue-text.ts';

export interface CueRange {
  /** Subtracted from all times. */
  readonly startMs: number;
  readonly durationMs: number;
}

const header = 'WEBVTT\n';
const cueTimes =
  /^\s*(?:(\d{2,6}):)?(\d{2}):(\d{2})\.(\d{3})[ \t]*-->[ \t]*(?:(\d{2,6}):)?(\d{2}):(\d{2})\.(\d{3})((?:[ \t].*)?)$/;
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
    if (cueTimes.test(line)) {
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
  const found = cueTimes.exec(line);
  if (found === null) return undefined;
  const beginMs = Math.max(0, msOfTime(found.slice(1, 5)) - startMs);
  const endMs = Math.min(durationMs, msOfTime(found.slice(5, 9)) - startMs);
  if (endMs <= beginMs) return undefined;
  const times = `${formatCueTime(beginMs)} --> ${formatCueTime(endMs)}`;
  return { times, settings: found[9] ?? '', beginMs, endMs };
}

/** @param parts hours, which may be missing, minutes, seconds and milliseconds */
export function msOfTime([hours = '0', minutes, seconds, ms]: readonly string[]): number {
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(ms);
}
