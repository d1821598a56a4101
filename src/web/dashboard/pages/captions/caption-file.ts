import { parseTime } from '../../../shared/time-text.ts';
import { formatFrameTimecode } from '../video/thumbnail/frame-times.ts';
import { formatTimecode } from '../video/tracks/chapter-rows.ts';
import { decodeCueText, encodeCueText } from './cue-text.ts';

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

export const maxCues = 20_000;

const timestamp = '((?:\\d{2,3}:)?[0-5]\\d:[0-5]\\d\\.\\d{3})';
const cueTimes = new RegExp(`^[ \\t]*${timestamp}[ \\t]*-->[ \\t]*${timestamp}(?:[ \\t]+(.*))?$`);

/**
 * Keeps what it does not understand, such as comments, styles and regions, so that a file does not lose it.
 * **Source**: WebVTT, W3C, 4.1, https://www.w3.org/TR/webvtt1/
 * @returns undefined for a file with too many cues
 */
export function parseCaptionFile(vtt: string): CaptionFile | undefined {
  const cues: Cue[] = [];
  let header: readonly string[] | undefined;
  let other: string[] = [];
  let unreadable = 0;
  for (const block of blocksOf(vtt)) {
    const cue = parseCue(block, cues.length);
    if (cue === undefined) {
      if (block.includes('-->')) unreadable += 1;
      other.push(block);
      continue;
    }
    if (cues.length === maxCues) return undefined;
    cues.push(header === undefined ? cue : { ...cue, above: other });
    header ??= other;
    other = [];
  }
  const footer = header === undefined ? [] : other;
  return { header: header ?? other, cues, footer, nextId: cues.length, unreadable };
}

export function formatCaptionFile({ header, cues, footer }: CaptionFile): string {
  const [signature = 'WEBVTT', ...others] = header;
  const blocks = [signature, ...others];
  for (const cue of cues) blocks.push(...cue.above, cue.source ?? formatCue(cue));
  blocks.push(...footer);
  return `${blocks.join('\n\n')}\n`;
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

/** Blocks are separated by empty lines. A second line of times begins a block, too. */
function blocksOf(vtt: string): string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let hasTimes = false;
  const end = () => {
    if (lines.length > 0) blocks.push(lines.join('\n'));
    lines = [];
    hasTimes = false;
  };
  for (const line of vtt.replace(/^\ufeff/, '').split(/\r\n?|\n/)) {
    const isTimes = line.includes('-->');
    if (line === '' || (isTimes && (hasTimes || lines[0]?.startsWith('WEBVTT')))) end();
    if (line !== '') lines.push(line);
    hasTimes ||= isTimes;
  }
  end();
  return blocks;
}

function parseCue(block: string, id: number): Cue | undefined {
  const lines = block.split('\n');
  const timesAt = lines[0]!.includes('-->') ? 0 : 1;
  const times = cueTimes.exec(lines[timesAt] ?? '');
  if (times === null) return undefined;
  const [, from = '', to = '', settings = ''] = times;
  const [startMs, endMs] = [msOf(from), msOf(to)];
  return {
    ...{ id, startMs, endMs, settings, source: block, above: [] },
    ...{ start: timeOf(startMs), end: timeOf(endMs) },
    text: decodeCueText(lines.slice(timesAt + 1).join('\n')),
    identifier: timesAt === 1 ? lines[0] : undefined,
  };
}

function formatCue({ identifier, startMs, endMs, settings, text }: Cue): string {
  const times = `${formatFrameTimecode(startMs / 1000)} --> ${formatFrameTimecode(endMs / 1000)}`;
  return [
    ...(identifier === undefined ? [] : [identifier]),
    settings === '' ? times : `${times} ${settings}`,
    encodeCueText(text),
  ].join('\n');
}
