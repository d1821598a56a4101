import type { PlaybackContext, StoredPlayback } from './analytics-writes.store.ts';
import type { Playback } from './playback.ts';
import type { PlaybackReport } from './playback-report.ts';

export interface OpenPlayback {
  readonly key: Buffer;
  readonly name: string;
  readonly isLive: boolean;
  readonly context: PlaybackContext;
  playback: Playback;
  /** The last that was read or written; undefined for a new one. */
  stored: Pick<StoredPlayback, 'number' | 'state'> | undefined;
  /** True when its last report reached another server: it is written and forgotten after each report. */
  isRoaming: boolean;
  /** Reports since it was stored: they are handled again if another server stores it meanwhile. */
  reports: TimedReport[];
  heardAtMs: number;
}

export interface TimedReport {
  readonly report: Pick<PlaybackReport, 'events' | 'sentMs'>;
  readonly nowMs: number;
}

export function weightOf({ report }: TimedReport): number {
  return 1 + report.events.length;
}

/** A player that plays has played until it sent the report. */
export function applyReport(playback: Playback, { report: { events, sentMs }, nowMs }: TimedReport): void {
  for (const event of events) playback.handle(event, nowMs);
  if (sentMs === undefined || !playback.isPlaying) return;
  const now = { clientMs: sentMs, atMs: nowMs, position: undefined, isPaused: false };
  playback.handle({ type: 'timeupdate', ...now }, nowMs);
}
