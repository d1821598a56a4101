import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/clock.ts';
import { clientNetwork } from '../../shared/network/client-network.ts';
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
  /** Count of equal failures since an encoder connected or left. */
  readonly times?: number;
}

interface Publisher {
  readonly protocol: string;
  readonly encoder: string;
  readonly remoteAddress: string;
}

interface Refusal {
  readonly reason: string;
  readonly description: string;
}

/** About 40 KB each. */
const maxEntries = 200;
/** Leaves room for what happens to the encoder that publishes while others fail. */
const maxFailures = 100;
const maxLiveStreams = 1_000;
const ttlMs = 24 * 3_600_000;
const unknownKeyTtlMs = 10 * 60_000;

/** The last day of each live stream, in memory. Encoders that fail again and again take one entry each. */
export class IngestLog {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #entries = new LRUCache<string, IngestLogEntry[]>({ max: maxLiveStreams });
  /** The last encoder of each network whose stream key belongs to no live stream. */
  readonly #unknownKeys = new LRUCache<string, IngestLogEntry>({ max: maxLiveStreams });

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  /**
   * Oldest first. While no encoder is connected, includes the last one with an unknown stream key from the network of
   * the person who asks: most likely it is meant for this live stream.
   * @param address of the person who asks
   */
  list(liveStreamId: string, address: string): readonly IngestLogEntry[] {
    const oldestMs = this.#clock.nowMs() - ttlMs;
    const entries = (this.#entries.peek(liveStreamId) ?? []).filter(({ atMs }) => atMs > oldestMs);
    const unknownKey = this.#unknownKeyFrom(address);
    if (unknownKey === undefined || isConnected(entries)) return entries;
    return [...entries, unknownKey].toSorted((one, other) => one.atMs - other.atMs);
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

  refused(liveStreamId: string, publisher: Publisher, refusal: Refusal): void {
    this.#failed(liveStreamId, { type: 'refused', ...fieldsOf(publisher), ...messageOf(refusal) });
  }

  /** Refused an encoder whose stream key belongs to no live stream. */
  unknownKey(publisher: Publisher, refusal: Refusal): void {
    const { remoteAddress } = publisher;
    const times = (this.#unknownKeyFrom(remoteAddress)?.times ?? 0) + 1;
    const cause = { type: 'refused', ...fieldsOf(publisher), ...messageOf(refusal) } as const;
    this.#unknownKeys.set(clientNetwork(remoteAddress), { atMs: this.#clock.nowMs(), ...cause, times });
  }

  /** Replaces the entries of a broadcast that viewers could never play. @param refusal undefined for an encoder that sent nothing */
  neverPlayed(liveStreamId: string, refusal: Refusal | undefined): void {
    const entries = this.#entries.peek(liveStreamId) ?? [];
    const begin = entries.findLastIndex(({ type }) => type === 'ended') + 1;
    const publisher = entries.findLast(({ type }, index) => index >= begin && type === 'connected');
    if (publisher === undefined) return;
    const kept = entries.filter(
      ({ type }, index) => index < begin || (type !== 'connected' && type !== 'disconnected'),
    );
    entries.splice(0, entries.length, ...kept);
    const { protocol, encoder, address } = publisher;
    const cause =
      refusal === undefined
        ? ({ type: 'ended', reason: 'no-media' } as const)
        : ({ type: 'refused', ...messageOf(refusal) } as const);
    this.#failed(liveStreamId, { ...cause, protocol, encoder, address });
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

  #unknownKeyFrom(address: string): IngestLogEntry | undefined {
    const entry = this.#unknownKeys.get(clientNetwork(address));
    return entry !== undefined && entry.atMs > this.#clock.nowMs() - unknownKeyTtlMs ? entry : undefined;
  }

  /** Adds a failure to the equal one before it, unless an encoder has connected or left since. */
  #failed(liveStreamId: string, entry: Omit<IngestLogEntry, 'atMs'>): void {
    const entries = this.#entries.peek(liveStreamId) ?? [];
    const latest = entries.slice(entries.findLastIndex(one => !isFailure(one)) + 1);
    const repeated = latest.find(one =>
      (['type', 'protocol', 'address', 'reason', 'message'] as const).every(
        field => one[field] === entry[field],
      ),
    );
    if (repeated !== undefined) entries.splice(entries.indexOf(repeated), 1);
    this.#add(liveStreamId, { ...entry, times: (repeated?.times ?? 0) + 1 });
  }

  #add(liveStreamId: string, entry: Omit<IngestLogEntry, 'atMs'>): void {
    const entries = this.#entries.get(liveStreamId) ?? [];
    entries.push({ atMs: this.#clock.nowMs(), ...entry });
    const failures = entries.filter(isFailure);
    if (failures.length > maxFailures) entries.splice(entries.indexOf(failures[0]!), 1);
    if (entries.length > maxEntries) entries.shift();
    this.#entries.set(liveStreamId, entries);
  }
}

/** Failed attempts have a count. */
function isFailure({ times }: IngestLogEntry): boolean {
  return times !== undefined;
}

function isConnected(entries: readonly IngestLogEntry[]): boolean {
  const last = entries.findLast(({ type }) => ['connected', 'disconnected', 'ended'].includes(type));
  return last?.type === 'connected';
}

function messageOf({ reason, description }: Refusal) {
  return { reason, message: description };
}

function fieldsOf({ protocol, encoder, remoteAddress }: Publisher) {
  return { protocol, encoder, address: remoteAddress };
}
