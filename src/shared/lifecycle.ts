import { messageOf } from './errors.ts';
import type { Logger } from './logger.ts';

export interface Component {
  readonly name: string;
  /** Resolves when the component is ready. `signal` aborts when the start is cancelled. */
  start(signal: AbortSignal): Promise<void>;
  /** Refuses new work and finishes the old before `deadlineMs`, a time of {@link Date.now}. */
  drain?(deadlineMs: number): Promise<void>;
  /** Must be safe to call twice, and after a failed start. */
  stop(): Promise<void>;
}

export function componentOf(
  name: string,
  { start, stop }: { start?: () => Promise<void> | void; stop?: () => Promise<void> | void },
): Component {
  return { name, start: async () => start?.(), stop: async () => stop?.() };
}

export class Lifecycle {
  readonly #components: readonly Component[];
  readonly #log: Logger;
  readonly #started: Component[] = [];
  #stopping: Promise<void> | undefined;

  constructor(components: readonly Component[], log: Logger) {
    this.#components = components;
    this.#log = log;
  }

  /** Starts all components. On a failure, stops those that started and rethrows. */
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

  /** @param deadlineMs a time of {@link Date.now}. @param signal ends the wait early; `stop` ends the rest */
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

  /** Stops all components; later calls wait for the first one. */
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
