import type { RestreamTag } from '../../media/flv/flv-tag.ts';
import { type MediaBatch, MediaBatcher } from '../../media/rtmp/media-batch.ts';
import { type MediaFormat, RestreamFormat } from './restream-format.ts';

export type RestreamBatch = MediaBatch<MediaFormat>;

export interface FeedReceiver {
  take(batch: RestreamBatch): void;
  /** The next batches continue at a keyframe. */
  interrupted(): void;
  publisherGone(): void;
}

/** Each destination costs a system call per batch. */
const batchMs = 60;

/** The media of one rendition, put into RTMP chunks once for all its destinations. */
export class RestreamFeed {
  readonly rendition: string;
  readonly #receivers = new Set<FeedReceiver>();
  readonly #format = new RestreamFormat();
  readonly #batcher = new MediaBatcher<MediaFormat>();
  #timer: NodeJS.Timeout | undefined;

  constructor(rendition: string) {
    this.rendition = rendition;
  }

  get isUnused(): boolean {
    return this.#receivers.size === 0;
  }

  get format(): MediaFormat {
    return this.#format.current;
  }

  add(receiver: FeedReceiver): void {
    this.#receivers.add(receiver);
  }

  remove(receiver: FeedReceiver): void {
    this.#receivers.delete(receiver);
    if (this.isUnused) this.#send();
  }

  take(tag: RestreamTag): void {
    const former = this.#format.current;
    this.#format.update(tag);
    if (this.#format.current !== former) {
      this.#send(former);
      if (tag.role === 'config') for (const receiver of this.#receivers) receiver.interrupted();
    }
    if (tag.role === 'config' || this.isUnused) return;
    const { kind, atMs, body } = tag;
    const isStart = tag.role === 'keyframe' || (kind === 'audio' && this.#format.isAudioOnly);
    this.#batcher.add({ kind, isStart, atMs, body });
    this.#timer ??= setTimeout(() => this.#send(), batchMs);
  }

  publisherGone(): void {
    this.#send();
    this.#format.publisherGone();
    for (const receiver of this.#receivers) receiver.publisherGone();
  }

  /** Sends the media of an unfinished batch. */
  flush(): void {
    this.#send();
  }

  #send(format = this.#format.current): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#batcher.take(format);
    if (batch === undefined) return;
    for (const receiver of this.#receivers) receiver.take(batch);
  }
}
