import { CoalescedTask } from '../shared/scheduling/coalesced-task.ts';
import type { SignalName, Signals } from './signals.ts';

/** Sends each payload once for all requests of an event loop iteration, and of the time that sending takes. */
export class CoalescedSignal {
  readonly #signals: Signals;
  readonly #name: SignalName;
  readonly #payloads = new Set<string>();
  readonly #sending = new CoalescedTask(() => this.#send());

  constructor(signals: Signals, name: SignalName) {
    this.#signals = signals;
    this.#name = name;
  }

  /** Call this after the commit. */
  request(payload: string): void {
    this.#payloads.add(payload);
    this.#sending.request();
  }

  async #send(): Promise<void> {
    const payloads = [...this.#payloads];
    this.#payloads.clear();
    // A lost signal only delays what it announces. The queries that follow report why the database does not respond.
    await Promise.allSettled(payloads.map(payload => this.#signals.send(this.#name, payload)));
  }
}
