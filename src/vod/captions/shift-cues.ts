import { cueText, formatCueTime } from '../../shared/text/cue-text.ts';

interface CueRange {
  /** Subtracted from all times. */
  readonly startMs: number;
  readonly durationMs: number;
}

const header = 'WEBVTT\n';
const cueTimes =
  /^(?:(\d{2,6}):)?(\d{2}):(\d{2})\.(\d{3}) --> (?:(\d{2,6}):)?(\d{2}):(\d{2})\.(\d{3})(?:\s|$)/;
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
    const found = cueTimes.exec(line);
    if (found !== null) {
      times = shifted(found, range);
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

/** Undefined when nothing of the cue is in the range. */
function shifted(found: RegExpExecArray, { startMs, durationMs }: CueRange): string | undefined {
  const beginMs = Math.max(0, msOf(found.slice(1, 5)) - startMs);
  const endMs = Math.min(durationMs, msOf(found.slice(5, 9)) - startMs);
  return endMs > beginMs ? `${formatCueTime(beginMs)} --> ${formatCueTime(endMs)}` : undefined;
}

function msOf([hours = '0', minutes, seconds, ms]: readonly string[]): number {
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(ms);
}
