import { formatTime, parseTime } from '../../../../shared/time-text.ts';

export interface ChapterRow {
  readonly id: number;
  /** The time as typed: `1:05`, `65`, `1:00:05.5`. */
  readonly time: string;
  readonly title: string;
}

export interface RowFault {
  readonly time?: string;
  readonly title?: string;
}

export interface ChapterStart {
  readonly startSeconds: number;
  readonly name: string;
}

export function rowsOf(chapters: readonly ChapterStart[]): ChapterRow[] {
  return chapters.map(({ startSeconds, name }, id) => ({
    id,
    time: formatTimecode(startSeconds),
    title: name,
  }));
}

export function parseRows(
  rows: readonly ChapterRow[],
  durationSeconds: number | undefined,
): { chapters: ChapterStart[]; faults: ReadonlyMap<number, RowFault> } {
  const faults = new Map<number, RowFault>();
  const starts = new Set<number>();
  const chapters: ChapterStart[] = [];
  for (const { id, time, title } of rows) {
    const name = title.trim();
    if (name === '' && time.trim() === '') continue;
    const seconds = parseTime(time);
    const wrongTime = timeFault(seconds, starts, durationSeconds);
    if (wrongTime !== undefined || name === '') {
      faults.set(id, {
        ...(wrongTime === undefined ? {} : { time: wrongTime }),
        ...(name === '' ? { title: 'Enter a title.' } : {}),
      });
      continue;
    }
    const startSeconds = Math.round(seconds! * 1000) / 1000;
    starts.add(startSeconds);
    chapters.push({ startSeconds, name });
  }
  chapters.sort((one, other) => one.startSeconds - other.startSeconds);
  return { chapters, faults };
}

/** **Source**: WebVTT, W3C, 4.1 and 4.2.2 (cue text), https://www.w3.org/TR/webvtt1/ */
export function formatChapters(
  chapters: readonly ChapterStart[],
  durationSeconds: number | undefined,
): string {
  const cues = chapters.map(({ startSeconds, name }, index) => {
    const next = chapters[index + 1]?.startSeconds ?? Math.max(durationSeconds ?? 0, startSeconds + 1);
    return `${timestamp(startSeconds)} --> ${timestamp(next)}\n${escaped(name)}\n`;
  });
  return ['WEBVTT\n', ...cues].join('\n');
}

export function formatTimecode(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const clock = formatTime(Math.floor(ms / 1000));
  const fraction = String(ms % 1000)
    .padStart(3, '0')
    .replace(/0+$/, '');
  return fraction === '' ? clock : `${clock}.${fraction}`;
}

function timeFault(
  seconds: number | undefined,
  starts: ReadonlySet<number>,
  durationSeconds: number | undefined,
): string | undefined {
  if (seconds === undefined) return 'Enter a time such as 1:05.';
  if (starts.has(Math.round(seconds * 1000) / 1000)) return 'Another chapter begins here.';
  if (durationSeconds !== undefined && seconds >= durationSeconds)
    return 'This is after the end of the video.';
  return undefined;
}

function timestamp(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const clock = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map(two).join(':');
  return `${clock}.${String(ms % 1000).padStart(3, '0')}`;
}

function escaped(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
