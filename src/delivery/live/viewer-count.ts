import type { Clock } from '../../shared/clock.ts';
import type { ViewerRequest } from '../responses/exchange.ts';

/**
 * Playback over WebRTC, over HLS with requests that wait for parts, or over HLS without them. Apple's players wait only over HTTP/2.
 */
export type LatencyMode = 'ultraLow' | 'low' | 'appleWithoutHttp2' | 'standard';

/** Reason for HLS in place of WebRTC. */
type WebRtcRefusal = 'unconnected' | 'full' | 'unsuitable';

type Outcome = LatencyMode | WebRtcRefusal;

interface Session {
  seenMs: number;
  requests: number;
  mode: LatencyMode;
}

const sessionMs = 10_000;
const maxOutcomes = 200;
const outcomeTtlMs = 3_600_000;
/** The first requests of each player do not wait. */
const minRequests = 3;
const ranks: Readonly<Record<LatencyMode, number>> = {
  ultraLow: 3,
  low: 2,
  appleWithoutHttp2: 1,
  standard: 0,
};

export class ViewerCount {
  readonly #clock: Clock;
  readonly #maxSessions: number;
  /** Sessions by stream and client, the one whose last request is the oldest first. */
  readonly #streams = new Map<string, Map<string, Session>>();
  /** Sessions that ended, and refusals, the oldest first. */
  readonly #outcomes: { readonly outcome: Outcome; readonly atMs: number }[] = [];
  #sessions = 0;

  /** @param maxSessions over all streams; further clients are not counted */
  constructor(clock: Clock, maxSessions = 100_000) {
    this.#clock = clock;
    this.#maxSessions = maxSessions;
  }

  recordRequest(
    liveStreamId: string,
    address: string,
    userAgent: string,
    mode: LatencyMode = 'standard',
  ): void {
    const client = `${address} ${userAgent.slice(0, 200)}`;
    let clients = this.#streams.get(liveStreamId);
    const session = clients?.get(client);
    if (clients !== undefined && session !== undefined) {
      session.seenMs = this.#clock.monotonicMs();
      session.requests += 1;
      if (ranks[mode] > ranks[session.mode]) session.mode = mode;
      clients.delete(client);
      clients.set(client, session);
      return;
    }
    if (this.#sessions >= this.#maxSessions) this.#expireAll();
    if (this.#sessions >= this.#maxSessions) return;
    clients = this.#streams.get(liveStreamId);
    if (clients === undefined) {
      clients = new Map();
      this.#streams.set(liveStreamId, clients);
    }
    clients.set(client, { seenMs: this.#clock.monotonicMs(), requests: 1, mode });
    this.#sessions += 1;
  }

  recordRefusal(refusal: WebRtcRefusal): void {
    this.#note(refusal);
  }

  /** Counts how the viewers of now and of the last hour played, at most {@link maxOutcomes} of those who left. */
  latency(): Readonly<Record<Outcome, number>> {
    this.#expireAll();
    const counts = {
      ultraLow: 0,
      low: 0,
      standard: 0,
      appleWithoutHttp2: 0,
      unconnected: 0,
      full: 0,
      unsuitable: 0,
    };
    const oldestMs = this.#clock.monotonicMs() - outcomeTtlMs;
    for (const { outcome, atMs } of this.#outcomes) if (atMs >= oldestMs) counts[outcome] += 1;
    for (const clients of this.#streams.values()) {
      for (const session of clients.values()) if (isTold(session)) counts[session.mode] += 1;
    }
    return counts;
  }

  #note(outcome: Outcome): void {
    this.#outcomes.push({ outcome, atMs: this.#clock.monotonicMs() });
    if (this.#outcomes.length > maxOutcomes) this.#outcomes.shift();
  }

  count(liveStreamId: string): number {
    this.#expire(liveStreamId);
    return this.#streams.get(liveStreamId)?.size ?? 0;
  }

  total(): number {
    this.#expireAll();
    return this.#sessions;
  }

  #expireAll(): void {
    for (const liveStreamId of [...this.#streams.keys()]) this.#expire(liveStreamId);
  }

  #expire(liveStreamId: string): void {
    const clients = this.#streams.get(liveStreamId);
    if (clients === undefined) return;
    const oldestMs = this.#clock.monotonicMs() - sessionMs;
    for (const [client, session] of clients) {
      if (session.seenMs >= oldestMs) break;
      clients.delete(client);
      if (isTold(session)) this.#note(session.mode);
      this.#sessions -= 1;
    }
    if (clients.size === 0) this.#streams.delete(liveStreamId);
  }
}

/** A player that has asked once may still begin to wait for parts. */
function isTold({ mode, requests }: Session): boolean {
  return ranks[mode] >= ranks.low || requests >= minRequests;
}

export function latencyModeOf({ headers, httpVersion }: ViewerRequest, query: string): LatencyMode {
  if (query.includes('_HLS_msn=')) return 'low';
  const isApple = httpVersion !== '2.0' && headers['user-agent']?.includes('AppleCoreMedia') === true;
  return isApple ? 'appleWithoutHttp2' : 'standard';
}
