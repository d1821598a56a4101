import { escapeCueText } from '../../../../../media/webvtt/cue-text.ts';
import { formatCues } from '../../../../../media/webvtt/cues.ts';
import { formatTimecode, parseTime } from '../../../../shared/time-text.ts';
import { t } from '../../../texts/video.ts';

export interface ChapterRow {
  readonly id: number;
  /** The time as typed: `1:05`, `65`, `1:00:05.5`. */
  readonly time: string;
  readonly title: string;
}

export interface RowFault {
  readonly time?: string | undefined;
  readonly title?: string | undefined;
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

/** Rows that are edited. */
export interface ChapterDraft {
  readonly rows: readonly ChapterRow[];
  readonly nextId: number;
}

export function draftOf(chapters: readonly ChapterStart[]): ChapterDraft {
  const rows = chapters.length === 0 ? [{ id: 0, time: '0:00', title: '' }] : rowsOf(chapters);
  return { rows, nextId: rows.length };
}

export function setRow(draft: ChapterDraft, id: number, part: Partial<ChapterRow>): ChapterDraft {
  return { ...draft, rows: draft.rows.map(row => (row.id === id ? { ...row, ...part } : row)) };
}

export function removeRow(draft: ChapterDraft, id: number): ChapterDraft {
  return { ...draft, rows: draft.rows.filter(row => row.id !== id) };
}

/** Adds a chapter after those that start earlier; the last one without a time. Its id is the `nextId` of the given draft. */
export function addRow({ rows, nextId }: ChapterDraft, seconds: number | undefined): ChapterDraft {
  const row = { id: nextId, time: seconds === undefined ? '' : formatTimecode(seconds), title: '' };
  const later = seconds === undefined ? -1 : rows.findIndex(({ time }) => (parseTime(time) ?? -1) > seconds);
  return { rows: rows.toSpliced(later === -1 ? rows.length : later, 0, row), nextId: nextId + 1 };
}

/** Faults that are shown while rows are still being filled in: nothing is missing yet. */
export function typedFaults(
  rows: readonly ChapterRow[],
  durationSeconds: number | undefined,
): ReadonlyMap<number, RowFault> {
  const { faults } = parseRows(rows, durationSeconds);
  const isTyped = ({ id, time }: ChapterRow) => time.trim() !== '' && faults.get(id)?.time !== undefined;
  return new Map(rows.filter(isTyped).map(({ id }) => [id, { time: faults.get(id)!.time }]));
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
        time: wrongTime,
        ...(name === '' ? { title: t('chapters.noTitle') } : {}),
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

export function formatChapters(
  chapters: readonly ChapterStart[],
  durationSeconds: number | undefined,
): string {
  const cues = chapters.map(({ startSeconds, name }, index) => {
    const next = chapters[index + 1]?.startSeconds ?? Math.max(durationSeconds ?? 0, startSeconds + 1);
    const text = escapeCueText(name.replace(/\s+/g, ' '));
    return { startMs: startSeconds * 1000, endMs: next * 1000, text };
  });
  return formatCues(cues);
}

function timeFault(
  seconds: number | undefined,
  starts: ReadonlySet<number>,
  durationSeconds: number | undefined,
): string | undefined {
  if (seconds === undefined) return t('chapters.wrongTime');
  if (starts.has(Math.round(seconds * 1000) / 1000)) return t('chapters.sameTime');
  if (durationSeconds !== undefined && seconds >= durationSeconds) return t('chapters.afterEnd');
  return undefined;
}
