import { t } from '../../../texts/live.ts';
import { readCounters, type UplinkCounters, type UplinkStats, uplinkStats } from './connection-quality.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';
import { WhipConnection, type WhipMedia, WhipRefusal } from './whip-connection.ts';

export type BroadcasterState =
  | { readonly kind: 'connecting' | 'live' | 'reconnecting' }
  /** Ended by the user, or by the server, which then sends a text. */
  | { readonly kind: 'ended'; readonly text?: string }
  | { readonly kind: 'failed'; readonly text: string };

interface BroadcasterOptions {
  readonly streamKey: string;
  changed(state: BroadcasterState): void;
  /** Called when the user has ended a broadcast, after its session: no publisher is connected that the server would refuse from then on. */
  complete(): Promise<void>;
}

/** Keeps a WHIP connection open until the broadcast ends, and opens it again when it is lost. */
export class Broadcaster {
  readonly #options: BroadcasterOptions;
  #media: WhipMedia;
  #connection: WhipConnection | undefined;
  #counters: UplinkCounters | undefined;
  #retryTimer: number | undefined;
  #hasBeenLive = false;
  #isOver = false;

  constructor(options: BroadcasterOptions, media: WhipMedia) {
    this.#options = options;
    this.#media = media;
  }

  async start(): Promise<void> {
    this.#options.changed({ kind: 'connecting' });
    await this.#connect().catch((error: unknown) => this.#finish({ kind: 'failed', text: textOf(error) }));
  }

  async replaceVideo(video: MediaStreamTrack): Promise<void> {
    this.#media = { ...this.#media, video };
    await this.#connection?.replaceVideo(video);
  }

  async setMaxBitrate(maxBitsPerSecond: number): Promise<void> {
    this.#media = { ...this.#media, maxBitsPerSecond };
    await this.#connection?.setMaxBitrate(maxBitsPerSecond);
  }

  /** Returns statistics since the previous call; undefined while nothing is sent. */
  async measure(): Promise<UplinkStats | undefined> {
    const report = await this.#connection?.stats().catch(() => undefined);
    const counters = report && readCounters(report.values());
    const former = this.#counters;
    this.#counters = counters;
    return former && counters && uplinkStats(former, counters);
  }

  async end(text?: string): Promise<void> {
    const connection = this.#connection;
    const isLast = this.#finish({ kind: 'ended', text });
    if (!isLast || text !== undefined) {
      connection?.close();
      return;
    }
    await connection?.end();
    if (this.#hasBeenLive) await this.#options.complete();
  }

  async #connect(): Promise<void> {
    const connection = new WhipConnection({
      ...this.#media,
      streamKey: this.#options.streamKey,
      lost: () => void this.#lost(connection),
    });
    this.#connection = connection;
    try {
      await connection.open();
    } catch (error) {
      // The server may have accepted the session already.
      await connection.end();
      throw error;
    }
    if (this.#isOver) await connection.end();
    else {
      this.#hasBeenLive = true;
      this.#options.changed({ kind: 'live' });
    }
  }

  async #lost(connection: WhipConnection): Promise<void> {
    this.#options.changed({ kind: 'reconnecting' });
    const lostAtMs = performance.now();
    const text = await connection.endedText();
    if (text !== undefined) this.#finish({ kind: 'ended', text });
    else this.#retry(0, lostAtMs);
  }

  #retry(attempt: number, lostAtMs: number): void {
    if (this.#isOver) return;
    const delayMs = reconnectDelayMs(attempt, performance.now() - lostAtMs);
    if (delayMs === undefined) {
      const text = t('studio.lostTooLong');
      this.#finish({ kind: 'failed', text });
      return;
    }
    this.#retryTimer = setTimeout(() => {
      this.#connect().catch((error: unknown) => {
        if (isFinal(error)) this.#finish({ kind: 'failed', text: textOf(error) });
        else this.#retry(attempt + 1, lostAtMs);
      });
    }, delayMs);
  }

  /** Returns false when it is over already. */
  #finish(state: BroadcasterState): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#retryTimer);
    this.#options.changed(state);
    return true;
  }
}

/** The server takes the former connection for alive for some seconds, and may be restarting. */
function isFinal(error: unknown): boolean {
  return error instanceof WhipRefusal && error.status < 500 && ![409, 429].includes(error.status);
}

function textOf(error: unknown): string {
  if (error instanceof WhipRefusal) return error.message;
  const isNetwork =
    error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');
  if (isNetwork) return t('studio.unreachable');
  return error instanceof Error ? error.message : String(error);
}
