import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/clock.ts';
import type { AlarmChange } from './alarms.ts';

/** Something that happened between the encoder and this server. */
interface IngestLogEntry {
  /** Unix time. */
  readonly atMs: number;
  readonly type: 'connected' | 'disconnected' | 'refused' | 'ended' | 'alarm-raised' | 'alarm-cleared';
  readonly protocol?: string | undefined;
  /** The encoder's name, or `''`. */
  encoder?: string | undefined;
  readonly address?: string | undefined;
  readonly alarm?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** Count of equal refusals since an encoder connected or left. */
  readonly times?: number;
}

interface Publisher {
  readonly protocol: string;
  readonly encoder: string;
  readonly remoteAddress: string;
}

/** About 40 KB each. */
const maxEntries = 200;
/** Leaves room for what happens to the encoder that publishes while others are refused. */
const maxRefusals = 100;
const maxLiveStreams = 1_000;
const ttlMs = 24 * 3_600_000;

/** The last day of each live stream, in memory. Encoders that are refused again and again take one entry each. */
export class IngestLog {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #entries = new LRUCache<string, IngestLogEntry[]>({ max: maxLiveStreams });

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  /** Oldest first. */
  list(liveStreamId: string): readonly IngestLogEntry[] {
    const oldestMs = this.#clock.nowMs() - ttlMs;
    return (this.#entries.peek(liveStreamId) ?? []).filter(({ atMs }) => atMs > oldestMs);
  }

  connected(liveStreamId: string, publisher: Publisher): void {
    this.#add(liveStreamId, { type: 'connected', ...fieldsOf(publisher) });
  }

  /** The encoder tells its name with its media. */
  named(liveStreamId: string, encoder: string): void {
    const entry = this.#entries.peek(liveStreamId)?.findLast(({ type }) => type === 'connected');
    if (entry !== undefined) entry.encoder = encoder;
  }

  /** @param reason `unpublished` for an encoder that stopped */
  disconnected(liveStreamId: string, reason: string): void {
    this.#add(liveStreamId, { type: 'disconnected', reason });
  }

  refused(
    liveStreamId: string,
    publisher: Publisher,
    { reason, description: message }: { readonly reason: string; readonly description: string },
  ): void {
    const entry = { type: 'refused', ...fieldsOf(publisher), reason, message } as const;
    const entries = this.#entries.peek(liveStreamId) ?? [];
    const latest = entries.slice(entries.findLastIndex(({ type }) => type !== 'refused') + 1);
    const repeated = latest.find(one =>
      (['protocol', 'address', 'reason', 'message'] as const).every(field => one[field] === entry[field]),
    );
    if (repeated !== undefined) entries.splice(entries.indexOf(repeated), 1);
    this.#add(liveStreamId, { ...entry, times: (repeated?.times ?? 0) + 1 });
  }

  ended(liveStreamId: string, reason: string): void {
    this.#add(liveStreamId, { type: 'ended', reason });
  }

  alarmChanged(liveStreamId: string, { kind, isRaised, message }: AlarmChange): void {
    this.#add(liveStreamId, { type: isRaised ? 'alarm-raised' : 'alarm-cleared', alarm: kind, message });
  }

  forget(liveStreamId: string): void {
    this.#entries.delete(liveStreamId);
  }

  #add(liveStreamId: string, entry: Omit<IngestLogEntry, 'atMs'>): void {
    const entries = this.#entries.get(liveStreamId) ?? [];
    entries.push({ atMs: this.#clock.nowMs(), ...entry });
    const refusals = entries.filter(({ type }) => type === 'refused');
    if (refusals.length > maxRefusals) entries.splice(entries.indexOf(refusals[0]!), 1);
    if (entries.length > maxEntries) entries.shift();
    this.#entries.set(liveStreamId, entries);
  }
}

function fieldsOf({ protocol, encoder, remoteAddress }: Publisher) {
  return { protocol, encoder, address: remoteAddress };
}
