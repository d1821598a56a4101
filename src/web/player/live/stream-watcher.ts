import { BackOff } from '../../shared/back-off.ts';
import { type Refusal, readRefusal } from '../media/refusal.ts';

export interface StreamState {
  readonly live: boolean;
  readonly broadcastId: string | null;
}

interface StreamWatcherHandlers {
  onState(state: StreamState): void;
  onReachable(isReachable: boolean): void;
  /** The viewer may not play the stream. */
  onRefused(refusal: Refusal): void;
}

const pollsBetweenEventRetries = 5;

export class StreamWatcher {
  readonly #path: string;
  readonly #query: string;
  readonly #handlers: StreamWatcherHandlers;
  readonly #pollBackOff = new BackOff(1000, 15_000);
  #source: EventSource | undefined;
  #timer = 0;
  #polls = 0;
  #generation = 0;

  constructor(path: string, query: string, handlers: StreamWatcherHandlers) {
    this.#path = path;
    this.#query = query;
    this.#handlers = handlers;
  }

  start(): void {
    this.stop();
    this.#polls = 0;
    this.#pollBackOff.reset();
    this.#openEvents();
  }

  stop(): void {
    this.#generation += 1;
    this.#source?.close();
    this.#source = undefined;
    clearTimeout(this.#timer);
  }

  #openEvents(): void {
    const source = new EventSource(`${this.#path}/events${this.#query}`);
    this.#source = source;
    source.addEventListener('state', event => {
      this.#pollBackOff.reset();
      clearTimeout(this.#timer);
      this.#handlers.onReachable(true);
      this.#handlers.onState(JSON.parse((event as MessageEvent<string>).data) as StreamState);
    });
    source.addEventListener('error', () => {
      // The browser reconnects after a network error, but not after an HTTP error.
      if (source.readyState === EventSource.CLOSED) this.#source = undefined;
      this.#schedulePoll();
    });
  }

  #schedulePoll(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#poll(), this.#pollBackOff.next());
  }

  async #poll(): Promise<void> {
    const round = this.#generation;
    const state = await this.#fetchState();
    if (round !== this.#generation || this.#source?.readyState === EventSource.OPEN) return;
    if (state !== undefined && 'kind' in state) {
      this.stop();
      this.#handlers.onRefused(state);
      return;
    }
    this.#handlers.onReachable(state !== undefined);
    if (state !== undefined) this.#handlers.onState(state);
    // The handler may have stopped the watcher.
    if (round !== this.#generation) return;
    this.#polls += 1;
    if (this.#source === undefined && this.#polls % pollsBetweenEventRetries === 0) this.#openEvents();
    else this.#schedulePoll();
  }

  async #fetchState(): Promise<StreamState | Refusal | undefined> {
    try {
      const answer = await fetch(`${this.#path}/state${this.#query}`, {
        cache: 'no-store',
        signal: AbortSignal.timeout(8000),
      });
      if (answer.ok) return (await answer.json()) as StreamState;
      if (answer.status === 403) return readRefusal(answer);
      // A deleted stream is offline.
      return answer.status === 404 ? { live: false, broadcastId: null } : undefined;
    } catch {
      return undefined;
    }
  }
}
