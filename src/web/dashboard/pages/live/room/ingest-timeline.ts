import type { IngestLogEntry } from '../../../api/api-types.ts';
import { formatSpan } from '../../../format/time.ts';
import { t } from '../../../texts/live.ts';
import { formatEndReason } from '../broadcast-labels.ts';
import { alarmTitle } from '../health/alarm-titles.ts';
import { encoderOf } from './encoder-name.ts';

type MomentKind = 'start' | 'lost' | 'back' | 'encoder' | 'alarm' | 'cleared' | 'refused' | 'clip' | 'end';

/** Something to point at. Times are Unix seconds. */
export interface TimelineMoment {
  readonly time: number;
  readonly kind: MomentKind;
  readonly text: string;
}

interface TimelineSpan {
  readonly kind: 'live' | 'gap' | 'alarm';
  readonly from: number;
  readonly to: number;
}

export interface IngestTimeline {
  readonly from: number;
  readonly to: number;
  readonly spans: readonly TimelineSpan[];
  readonly moments: readonly TimelineMoment[];
}

interface TimelineInput {
  readonly entries: readonly IngestLogEntry[];
  readonly clips: readonly { readonly title: string; readonly createdAt: string }[];
  /** Unix seconds; undefined while nothing is live. */
  readonly liveSince: number | undefined;
  /** Unix seconds. */
  readonly now: number;
}

const shownSeconds = 3_600;
const minShownSeconds = 120;

/** The last hour, or the last broadcast when nothing is live. Undefined when nothing is known. */
export function timelineOf({ entries, clips, liveSince, now }: TimelineInput): IngestTimeline | undefined {
  const reader = new LogReader();
  for (const entry of entries) reader.read(entry);
  const isLive = liveSince !== undefined;
  const to = isLive ? now : reader.lastAt;
  if (to === undefined) return undefined;
  // The server of this broadcast may be another one, or have restarted.
  if (isLive && !reader.isOpen) reader.spans.push({ kind: 'live', from: liveSince, to });
  reader.finish(to);
  const clipMoments = clips.map(({ title, createdAt }) => ({
    time: secondsOf(createdAt),
    kind: 'clip' as const,
    text: t('timeline.clip', { title }),
  }));
  const since = Math.max(to - shownSeconds, isLive ? 0 : (reader.beginsAt ?? 0));
  const moments = [...reader.moments, ...clipMoments].filter(({ time }) => time >= since && time <= to);
  const spans = reader.spans.filter(span => span.to > since);
  const first = Math.min(...moments.map(({ time }) => time), ...spans.map(({ from }) => from), to);
  const from = Math.max(to - shownSeconds, Math.min(first, to - minShownSeconds));
  return {
    from,
    to,
    spans: spans.map(span => ({ ...span, from: Math.max(from, span.from) })),
    moments: moments.sort((one, other) => one.time - other.time),
  };
}

/** Groups moments that would cover each other. @param share of the width that each takes, 0..1 */
export function groupMoments(
  { from, to, moments }: Pick<IngestTimeline, 'from' | 'to' | 'moments'>,
  share: number,
): TimelineMoment[][] {
  const groups: TimelineMoment[][] = [];
  for (const moment of moments) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    if (group !== undefined && first !== undefined && moment.time - first.time < share * (to - from)) {
      group.push(moment);
    } else groups.push([moment]);
  }
  return groups;
}

class LogReader {
  readonly spans: TimelineSpan[] = [];
  readonly moments: TimelineMoment[] = [];
  readonly #alarmsSince = new Map<string, number>();
  #connectedSince: number | undefined;
  #goneSince: number | undefined;
  #encoder: string | undefined;
  #refusedWith: string | undefined;
  /** Tells that the encoder stopped. */
  #stop: TimelineMoment | undefined;
  lastAt: number | undefined;
  /** When the last broadcast began, if the log reaches that far. */
  beginsAt: number | undefined;

  /** A broadcast is in progress. */
  get isOpen(): boolean {
    return this.#connectedSince !== undefined || this.#goneSince !== undefined;
  }

  read(entry: IngestLogEntry): void {
    const time = secondsOf(entry.happenedAt);
    const { alarm = '', message = '' } = entry;
    this.lastAt = time;
    if (entry.type === 'connected') this.#connected(entry, time);
    else if (entry.type === 'disconnected') this.#disconnected(entry.reason, time);
    else if (entry.type === 'refused') this.#refused(entry, time);
    else if (entry.type === 'ended' && entry.times !== undefined) this.#sentNothing(entry, time);
    else if (entry.type === 'ended') this.#ended(entry.reason ?? '', time);
    else if (entry.type === 'alarm-raised') {
      this.#alarmsSince.set(alarm, time);
      this.#add(time, 'alarm', t('timeline.alarm', { title: alarmTitle(alarm), message }));
    } else {
      this.#endAlarm(alarm, time);
      this.#add(time, 'cleared', message);
    }
  }

  finish(to: number): void {
    this.#endConnection(to);
    if (this.#goneSince !== undefined) this.spans.push({ kind: 'gap', from: this.#goneSince, to });
    for (const alarm of [...this.#alarmsSince.keys()]) this.#endAlarm(alarm, to);
  }

  #connected(entry: IngestLogEntry, time: number): void {
    const encoder = encoderOf(entry);
    const former = this.#encoder;
    const goneSince = this.#goneSince;
    this.#endConnection(time);
    this.#encoder = encoder;
    this.#connectedSince = time;
    this.#goneSince = undefined;
    this.#refusedWith = undefined;
    if (goneSince === undefined) {
      this.beginsAt = time;
      this.#add(time, 'start', t('timeline.connected', { encoder }));
      return;
    }
    const span = { kind: 'gap', from: goneSince, to: time } as const;
    if (span.to > span.from) this.spans.push(span);
    if (former !== encoder) this.#add(time, 'encoder', t('timeline.changed', { encoder }));
    else this.#add(time, 'back', t('timeline.back', { time: formatSpan(time - goneSince) }));
  }

  #disconnected(reason: string | undefined, time: number): void {
    this.#endConnection(time);
    this.#goneSince = time;
    if (reason === 'unpublished') {
      this.#add(time, 'end', formatEndReason('publisher-stopped'));
      this.#stop = this.moments.at(-1);
    } else if (reason !== 'replaced') this.#add(time, 'lost', t('timeline.lost'));
  }

  #refused(entry: IngestLogEntry, time: number): void {
    const { reason, message = '', times = 1 } = entry;
    this.#refusedWith = reason;
    const encoder = encoderOf(entry);
    const text =
      times === 1
        ? t('timeline.refused', { encoder, message })
        : t('timeline.refusedTimes', { encoder, count: times, message });
    this.#add(time, 'refused', text);
  }

  #sentNothing(entry: IngestLogEntry, time: number): void {
    const { times: count = 1 } = entry;
    this.#add(time, 'lost', t('timeline.noMedia', { encoder: encoderOf(entry), count }));
  }

  #ended(reason: string, time: number): void {
    this.#endConnection(time);
    this.#goneSince = undefined;
    this.#encoder = undefined;
    for (const alarm of [...this.#alarmsSince.keys()]) this.#endAlarm(alarm, time);
    // The studio stops first.
    if (reason === 'completed' && this.#stop !== undefined && this.#stop === this.moments.at(-1))
      this.moments.pop();
    if (this.#refusedWith !== reason) this.#add(time, 'end', endTextOf(reason));
    this.#refusedWith = undefined;
  }

  #endConnection(time: number): void {
    if (this.#connectedSince !== undefined) {
      this.spans.push({ kind: 'live', from: this.#connectedSince, to: time });
    }
    this.#connectedSince = undefined;
  }

  #endAlarm(alarm: string, time: number): void {
    const since = this.#alarmsSince.get(alarm);
    if (since !== undefined) this.spans.push({ kind: 'alarm', from: since, to: time });
    this.#alarmsSince.delete(alarm);
  }

  #add(time: number, kind: MomentKind, text: string): void {
    this.moments.push({ time, kind, text });
  }
}

/** Leaves out what a moment before tells already. */
function endTextOf(reason: string): string {
  if (reason === 'publisher-stopped' || reason === 'publisher-gone') return t('timeline.ended');
  if (reason === 'completed') return t('timeline.endedByUser');
  return t('timeline.endedWhy', { reason: formatEndReason(reason) });
}

function secondsOf(time: string): number {
  return Date.parse(time) / 1000;
}
