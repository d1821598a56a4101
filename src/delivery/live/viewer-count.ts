import type { Clock } from '../../shared/clock.ts';

const sessionMs = 10_000;

export class ViewerCount {
  readonly #clock: Clock;
  readonly #maxSessions: number;
  /** Time of the last request by stream and client, oldest first. */
  readonly #streams = new Map<string, Map<string, number>>();
  #sessions = 0;

  /** @param maxSessions over all streams; further clients are not counted */
  constructor(clock: Clock, maxSessions = 100_000) {
    this.#clock = clock;
    this.#maxSessions = maxSessions;
  }

  recordRequest(liveStreamId: string, address: string, userAgent: string): void {
    const client = `${address} ${userAgent.slice(0, 200)}`;
    let clients = this.#streams.get(liveStreamId);
    if (clients?.delete(client)) {
      clients.set(client, this.#clock.monotonicMs());
      return;
    }
    if (this.#sessions >= this.#maxSessions) this.#expireAll();
    if (this.#sessions >= this.#maxSessions) return;
    clients = this.#streams.get(liveStreamId);
    if (clients === undefined) {
      clients = new Map();
      this.#streams.set(liveStreamId, clients);
    }
    clients.set(client, this.#clock.monotonicMs());
    this.#sessions += 1;
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
    for (const [client, seenMs] of clients) {
      if (seenMs >= oldestMs) break;
      clients.delete(client);
      this.#sessions -= 1;
    }
    if (clients.size === 0) this.#streams.delete(liveStreamId);
  }
}
