import type { FlvTag } from '../../media/flv/flv-tag.ts';
import { readTagEvents } from '../../media/flv/tag-events.ts';
import { splitAggregate } from '../../media/rtmp/aggregate-message.ts';
import { MESSAGE, type RtmpMessage } from '../../media/rtmp/chunk-reader.ts';
import type { Logger } from '../../shared/logger.ts';
import { maskStreamKey } from '../../shared/secret.ts';
import type { IngestObserver } from '../ingest-observer.ts';
import type { PublisherCloseReason, PublisherSink } from '../publish-gate.ts';

interface PublicationOptions {
  readonly messageStreamId: number;
  /** `''` when the request names no valid key. */
  readonly streamKey: string;
  readonly encoder: string;
  readonly observer: IngestObserver;
  readonly log: Logger;
  onSinkFailed(): void;
}

export class Publication {
  readonly messageStreamId: number;
  isPaused = false;
  readonly #options: PublicationOptions;
  readonly #ending = new AbortController();
  #sink: PublisherSink | undefined;
  #closeReason: PublisherCloseReason | undefined;
  #tags = 0;
  #emptyMessages = 0;

  constructor(options: PublicationOptions) {
    this.messageStreamId = options.messageStreamId;
    this.#options = options;
  }

  /** Aborted when the publication ends before it is accepted. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isAccepted(): boolean {
    return this.#sink !== undefined;
  }

  get isClosed(): boolean {
    return this.#closeReason !== undefined;
  }

  get logFields(): Record<string, unknown> {
    const { streamKey, encoder } = this.#options;
    return { streamKey: maskStreamKey(streamKey), encoder };
  }

  /** Returns false, and closes the sink, when the publisher is gone. */
  accept(sink: PublisherSink): boolean {
    if (this.#closeReason !== undefined) {
      this.#closeSink(sink, this.#closeReason);
      return false;
    }
    this.#sink = sink;
    this.#options.observer.publisherOpened();
    this.#options.log.info('publisher-opened', this.logFields);
    return true;
  }

  /** @throws AppError `media-malformed` */
  deliver({ type, timestampMs, payload }: RtmpMessage): void {
    if (type === MESSAGE.dataAmf3) this.#deliverTag(MESSAGE.dataAmf0, timestampMs, skipAmf3Format(payload));
    else if (type !== MESSAGE.aggregate) this.#deliverTag(type, timestampMs, payload);
    else {
      for (const tag of splitAggregate(payload, timestampMs)) {
        this.#deliverTag(tag.type, tag.timestampMs, tag.body);
      }
    }
  }

  close(reason: PublisherCloseReason, bytesIn: number): void {
    const { observer, log } = this.#options;
    this.#closeReason = reason;
    const sink = this.#sink;
    if (sink === undefined) {
      this.#ending.abort();
      return;
    }
    observer.publisherClosed(reason);
    const totals = { bytesIn, tags: this.#tags, emptyMessages: this.#emptyMessages };
    log.info('publisher-closed', { ...this.logFields, reason, ...totals });
    this.#closeSink(sink, reason);
  }

  #deliverTag(type: number, timestampMs: number, body: Buffer): void {
    if (type === MESSAGE.audio) this.#emit({ kind: 'audio', timestampMs, body });
    else if (type === MESSAGE.video) this.#emit({ kind: 'video', timestampMs, body });
    else if (type === MESSAGE.dataAmf0) this.#emit({ kind: 'script', timestampMs, body });
  }

  #emit(tag: FlvTag): void {
    const sink = this.#sink;
    if (sink === undefined || this.#closeReason !== undefined) return;
    if (tag.body.length === 0) {
      this.#emptyMessages += 1;
      return;
    }
    this.#tags += 1;
    try {
      readTagEvents(tag, event => sink.media(event));
    } catch (error) {
      this.#options.log.error('sink-failed', { error });
      this.#options.onSinkFailed();
    }
  }

  #closeSink(sink: PublisherSink, reason: PublisherCloseReason): void {
    try {
      sink.closed(reason);
    } catch (error) {
      this.#options.log.error('sink-failed', { error });
    }
  }
}

/** Skips a first byte of 0, which announces AMF0. */
export function skipAmf3Format(payload: Buffer): Buffer {
  return payload[0] === 0 ? payload.subarray(1) : payload;
}
