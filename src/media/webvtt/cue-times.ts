export interface CueTimes {
  readonly startMs: number;
  readonly endMs: number;
  /** After the times, with the space before them. */
  readonly settings: string;
  /** False for times that only lenient readers understand. */
  readonly isWebVtt: boolean;
}

/** Matches a time in four groups: hours, minutes, seconds and the digits of their fraction. */
export const cueTime = '(?:(\\d{1,6}) ?: ?)?(\\d{1,4}) ?: ?(\\d{1,4})(?: ?[.,:] ?(\\d{1,9}))?';
const arrow = '(?:-{1,3} ?>|[–—]>|--&gt;)';
const times = new RegExp(`^\\s*${cueTime}\\s*${arrow}\\s*${cueTime}(\\s.*)?$`);
const strictTime = '(?:\\d{2,6}:)?[0-5]\\d:[0-5]\\d\\.\\d{3}';
/** WebVTT, W3C, 6.3: spaces around the arrow are optional. */
const strictTimes = new RegExp(`^[ \\t]*${strictTime}[ \\t]*-->[ \\t]*${strictTime}(?:[ \\t].*)?$`);

/** Reads the times of a cue: of WebVTT, SubRip, and what people and programs write instead. */
export function parseCueTimes(line: string): CueTimes | undefined {
  const found = times.exec(line);
  if (found === null) return undefined;
  return {
    startMs: cueTimeMs(found.slice(1, 5)),
    endMs: cueTimeMs(found.slice(5, 9)),
    settings: found[9] ?? '',
    isWebVtt: strictTimes.test(line),
  };
}

/** @param parts hours, which may be missing, minutes, seconds and the digits of their fraction */
export function cueTimeMs([hours = '0', minutes, seconds, fraction = '']: readonly (
  | string
  | undefined
)[]): number {
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** Formats `HH:MM:SS.mmm`, rounded to milliseconds. */
export function formatCueTime(ms: number): string {
  const rounded = Math.max(0, Math.round(ms));
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const clock = [rounded / 3_600_000, (rounded / 60_000) % 60, (rounded / 1000) % 60].map(two).join(':');
  return `${clock}.${String(rounded % 1000).padStart(3, '0')}`;
}

export function formatCueTimes(startMs: number, endMs: number): string {
  return `${formatCueTime(startMs)} --> ${formatCueTime(endMs)}`;
}
