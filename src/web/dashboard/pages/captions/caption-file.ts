import { decodeCueText, encodeCueText } from '../../../../media/webvtt/cue-text.ts';
import { formatCueTimes, parseCueTimes } from '../../../../media/webvtt/cue-times.ts';
import { maxCues } from '../../../../media/webvtt/cues.ts';
import { readLines } from '../../../../media/webvtt/line-reader.ts';
import { formatTimecode, parseTime } from '../../../shared/time-text.ts';

export interface Cue {
  readonly id: number;
  /** The start as typed, such as `1:05.5`. */
  readonly start: string;
  readonly end: string;
  /** NaN while the typed time is invalid. */
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  /** Comments and other blocks above the cue, unchanged. */
  readonly above: readonly string[];
  /** The line above the times. */
  readonly identifier: string | undefined;
  /** Position and alignment, unchanged. */
  readonly settings: string;
  /** The block in the file, until the cue is edited. */
  readonly source: string | undefined;
}

export interface CaptionFile {
  /** Everything above the first cue, such as styles and regions, unchanged. */
  readonly header: readonly string[];
  readonly cues: readonly Cue[];
  /** Blocks below the last cue. */
  readonly footer: readonly string[];
  readonly nextId: number;
  /** Cues with invalid times, which players skip. They are kept unchanged. */
  readonly unreadable: number;
}

/**
 * Keeps what it does not understand, such as comments, styles and regions, so that a file does not lose it.
 * @returns undefined for a file with too many cues
 */
export function parseCaptionFile(vtt: string): CaptionFile | undefined {
  const cues: Cue[] = [];
  let header: readonly string[] | undefined;
  let other: string[] = [];
  let unreadable = 0;
  let block: { lines: string[]; timesAt?: number } = { lines: [] };
  for (const { kind, line } of readLines(vtt.replace(/^\ufeff/, ''))) {
    if (kind === 'times') block.timesAt = block.lines.length;
    if (kind !== 'end') {
      block.lines.push(line);
      continue;
    }
    const cue = cueOf(block.lines, block.timesAt, cues.length);
    if (cue === undefined) {
      if (block.timesAt !== undefined) unreadable += 1;
      other.push(block.lines.join('\n'));
    } else {
      if (cues.length === maxCues) return undefined;
      cues.push(header === undefined ? cue : { ...cue, above: other });
      header ??= other;
      other = [];
    }
    block = { lines: [] };
  }
  const footer = header === undefined ? [] : other;
  return { header: header ?? other, cues, footer, nextId: cues.length, unreadable };
}

export function formatCaptionFile({ header, cues, footer }: CaptionFile): string {
  const [signature = 'WEBVTT', ...others] = header;
  const blocks = [signature, ...others];
  for (const cue of cues) blocks.push(...cue.above, cue.source ?? formatCue(cue));
  blocks.push(...footer);
  // As the server stores it, so that the editor knows its own text again.
  return `${blocks.join('\n\n')}\n`.replaceAll('\0', '');
}

/** Players expect the cues in the order of their starts. */
export function sortCues(file: CaptionFile): CaptionFile {
  const { cues } = file;
  const isSorted = cues.every(({ startMs }, index) => index === 0 || cues[index - 1]!.startMs <= startMs);
  return isSorted ? file : { ...file, cues: cues.toSorted((one, other) => one.startMs - other.startMs) };
}

export function timeOf(ms: number): string {
  return formatTimecode(ms / 1000);
}

/** Returns NaN for an invalid time. */
export function msOf(time: string): number {
  return Math.round((parseTime(time) ?? Number.NaN) * 1000);
}

function cueOf(lines: readonly string[], timesAt: number | undefined, id: number): Cue | undefined {
  const times = timesAt === undefined ? undefined : parseCueTimes(lines[timesAt]!);
  if (timesAt === undefined || times?.isWebVtt !== true) return undefined;
  const { startMs, endMs, settings } = times;
  return {
    id,
    startMs,
    endMs,
    start: timeOf(startMs),
    end: timeOf(endMs),
    settings: settings.trim(),
    source: lines.join('\n'),
    above: [],
    text: decodeCueText(lines.slice(timesAt + 1).join('\n')),
    identifier: timesAt === 1 ? lines[0] : undefined,
  };
}

function formatCue({ identifier, startMs, endMs, settings, text }: Cue): string {
  const times = formatCueTimes(startMs, endMs);
  return [
    ...(identifier === undefined ? [] : [identifier]),
    settings === '' ? times : `${times} ${settings}`,
    encodeCueText(text),
  ].join('\n');
}
