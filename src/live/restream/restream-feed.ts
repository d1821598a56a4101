import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { BroadcastMedia } from '../broadcast/broadcast-subscriber.ts';
import { RestreamBatch, type RestreamSample } from './restream-batch.ts';
import { type MediaFormat, RestreamFormat } from './restream-format.ts';

/** Media on the broadcast's clock, rising on each track. */
export type RestreamMedia = Pick<BroadcastMedia, 'media' | 'atMs'>;

export interface FeedReceiver {
  take(batch: RestreamBatch): void;
  /** The next batches continue at a keyframe. */
  interrupted(): void;
  publisherGone(): void;
}

/** Length of a batch: each destination costs a system call per batch. */
const batchMs = 60;

/** The media of one rendition, in batches for all its destinations. */
export class RestreamFeed {
  readonly rendition: string;
  readonly #receivers = new Set<FeedReceiver>();
  readonly #format = new RestreamFormat();
  #samples: RestreamSample[] = [];
  #previousMs: Partial<Record<TrackKind, number>> = {};
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

  take({ media, atMs }: RestreamMedia): void {
    const former = this.#format.current;
    this.#format.update(media);
    if (this.#format.current !== former) {
      this.#send(former);
      if (media.type === 'config') for (const receiver of this.#receivers) receiver.interrupted();
    }
    if (media.type === 'config' || this.isUnused) return;
    const isStart = media.isKeyframe || (media.kind === 'audio' && this.#format.isAudioOnly);
    this.#samples.push({ media, isStart, atMs: Math.round(atMs) });
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
    if (this.#samples.length === 0) return;
    const batch = new RestreamBatch(format, this.#samples, this.#previousMs);
    this.#samples = [];
    this.#previousMs = batch.lastMs;
    for (const receiver of this.#receivers) receiver.take(batch);
  }
}
