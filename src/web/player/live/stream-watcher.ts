import { BackOff } from '../../shared/back-off.ts';

/** Whether a stream is live, and as which broadcast. */
export interface StreamState {
  readonly live: boolean;
  readonly broadcastId: string | null;
}

/** Hears about a stream. */
export interface StreamWatcherHandlers {
  onState(state: StreamState): void;
  /** Whether the server can be reached. */
  onReachable(isReachable: boolean): void;
}

/** How often server-sent events are tried again where the server refused them, in polls. */
const pollsBetweenEventRetries = 5;

/** Learns when a stream starts or ends: by server-sent events, or by asking now and then where those do not work. */
export class StreamWatcher {
  readonly #path: string;
  readonly #query: string;
  readonly #handlers: StreamWatcherHandlers;
  readonly #pollBackOff = new BackOff(1000, 15_000);
  #source: EventSource | undefined;
  #timer = 0;
  #polls = 0;
  /** Grows at each start and stop, so that answers to earlier questions are told apart. */
  #generation = 0;

  /** `path`: path of the stream's page, such as `/live/li…`. `query`: what a private stream is asked for with. */
  constructor(path: string, query: string, handlers: StreamWatcherHandlers) {
    this.#path = path;
    this.#query = query;
    this.#handlers = handlers;
  }

  /** Tells the state soon and at each change, until `stop`. */
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
      // The browser tries again by itself after a broken connection, and gives up after an HTTP error.
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
    this.#handlers.onReachable(state !== undefined);
    if (state !== undefined) this.#handlers.onState(state);
    // The state's handler may have stopped the watch.
    if (round !== this.#generation) return;
    this.#polls += 1;
    if (this.#source === undefined && this.#polls % pollsBetweenEventRetries === 0) this.#openEvents();
    else this.#schedulePoll();
  }

  async #fetchState(): Promise<StreamState | undefined> {
    try {
      const answer = await fetch(`${this.#path}/state${this.#query}`, {
        cache: 'no-store',
        signal: AbortSignal.timeout(8000),
      });
      if (answer.ok) return (await answer.json()) as StreamState;
      // A stream that was removed is offline for good.
      return answer.status === 404 ? { live: false, broadcastId: null } : undefined;
    } catch {
      return undefined;
    }
  }
}
