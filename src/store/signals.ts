import type { Connection } from './connection.ts';

/**
 * - `jobs`: jobs of a lane were added; the payload is the lane
 * - `jobs-removed`: the payload is the id of their subject
 * - `events`: events were stored; the payload is the project's id
 * - `access`: an account, API key, session or user was changed or removed: see `AccessWatch`
 * - `live`: the broadcast or the settings of a live stream changed; the payload is the stream's id
 * - `webhooks`: a webhook was changed or has new deliveries; the payload is its id
 * - `webhooks-removed`: the payload is the id of the removed webhook
 * - `encoding-progress`: renditions were encoded further; the payload is JSON: see `EventFeed`
 * - `nodes`: a node came, left or changed
 * - `leader-leases`: a node asks another one for a leader lease; the payload is JSON: see `LeaderLeases`
 * - `recordings`: those of a node that is gone were divided among the others
 * - `certificate`: the certificate, or an order of it, changed
 * - `settings`: a setting was changed in the dashboard; the payload is its key
 */
export type SignalName =
  | 'jobs'
  | 'jobs-removed'
  | 'jobs-paused'
  | 'events'
  | 'access'
  | 'live'
  | 'webhooks'
  | 'webhooks-removed'
  | 'encoding-progress'
  | 'nodes'
  | 'leader-leases'
  | 'recordings'
  | 'certificate'
  | 'settings';

/** Tells every server that shares the database, this one included, that something changed. */
export interface Signals {
  /** Delivered after the commit of `connection`, and never after a rollback. At most 7,000 bytes. */
  send(name: SignalName, payload: string, connection?: Connection): Promise<void>;
  /**
   * Calls `listener` with the payload, or with undefined when signals may have been lost: it must then read everything
   * again. @returns stops listening
   */
  listen(name: SignalName, listener: (payload: string | undefined) => void): () => void;
}

/** Signals within this server. */
export class LocalSignals implements Signals {
  readonly #listeners = new Map<SignalName, Set<(payload: string | undefined) => void>>();

  async send(name: SignalName, payload: string, connection?: Connection): Promise<void> {
    if (connection === undefined) this.deliver(name, payload);
    else connection.afterCommit(() => this.deliver(name, payload));
  }

  listen(name: SignalName, listener: (payload: string | undefined) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  deliver(name: SignalName, payload: string | undefined): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(payload);
  }

  /** Delivers all signals, after some may have been lost. */
  deliverAll(): void {
    for (const name of this.#listeners.keys()) this.deliver(name, undefined);
  }
}
