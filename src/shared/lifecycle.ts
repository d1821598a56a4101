import { messageOf } from './errors.ts';
import type { Logger } from './logger.ts';

/** A part of the server that is started and stopped. */
export interface Component {
  readonly name: string;
  /** Ready for work when the promise resolves. `signal` aborts when the start is given up. */
  start(signal: AbortSignal): Promise<void>;
  /** Refuses new work and finishes or ends the old. `deadlineMs` is a time of {@link Date.now}; it resolves before then. */
  drain?(deadlineMs: number): Promise<void>;
  /** Frees everything. Safe when called twice, or after a start that failed. */
  stop(): Promise<void>;
}

/** A component that only starts something, or only stops something. */
export function componentOf(
  name: string,
  { start, stop }: { start?: () => Promise<void> | void; stop?: () => Promise<void> | void },
): Component {
  return { name, start: async () => start?.(), stop: async () => stop?.() };
}

/** Starts components in the order they were given, and drains and stops them in the opposite one. */
export class Lifecycle {
  readonly #components: readonly Component[];
  readonly #log: Logger;
  readonly #started: Component[] = [];
  #stopping: Promise<void> | undefined;

  constructor(components: readonly Component[], log: Logger) {
    this.#components = components;
    this.#log = log;
  }

  /** Starts all. When one fails, those before it are stopped again and the error is passed on. */
  async start(signal: AbortSignal = new AbortController().signal): Promise<void> {
    for (const component of this.#components) {
      try {
        signal.throwIfAborted();
        this.#started.push(component);
        await component.start(signal);
        this.#log.debug('component-started', { name: component.name });
      } catch (error) {
        await this.stop();
        throw error;
      }
    }
  }

  /**
   * Drains all, last started first, each until `deadlineMs` at the latest.
   *
   * @param deadlineMs a time of {@link Date.now}
   * @param signal aborts the wait; what was draining is left to `stop`
   */
  async drain(deadlineMs: number, signal?: AbortSignal): Promise<void> {
    for (const component of this.#started.toReversed()) {
      if (component.drain === undefined) continue;
      if (signal?.aborted) return;
      try {
        await withDeadline(component.drain(deadlineMs), deadlineMs, signal);
        this.#log.debug('component-drained', { name: component.name });
      } catch (error) {
        this.#log.warn('component-drain-failed', { name: component.name, error: messageOf(error) });
      }
    }
  }

  /** Stops all, last started first. Called again it waits for the first call. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    for (const component of this.#started.toReversed()) {
      try {
        await component.stop();
        this.#log.debug('component-stopped', { name: component.name });
      } catch (error) {
        this.#log.error('component-stop-failed', { name: component.name, error });
      }
    }
  }
}

async function withDeadline(
  work: Promise<void>,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error('the deadline passed')),
    Math.max(0, deadlineMs - Date.now()),
  );
  const abort = () => reject(new Error('told to stop at once'));
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
