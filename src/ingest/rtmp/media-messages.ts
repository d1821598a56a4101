import type { FlvTag } from '../../media/flv/flv-tag.ts';
import { readTagEvents } from '../../media/flv/tag-events.ts';
import { splitAggregate } from '../../media/rtmp/aggregate-message.ts';
import { MESSAGE, type RtmpMessage } from '../../media/rtmp/chunk-reader.ts';
import type { MediaEvent } from '../../media/samples/media-sample.ts';

const kinds: Readonly<Record<number, FlvTag['kind']>> = {
  [MESSAGE.audio]: 'audio',
  [MESSAGE.video]: 'video',
  [MESSAGE.dataAmf0]: 'script',
};

/** Reads the media of RTMP messages. */
export class MediaMessages {
  readonly #emit: (event: MediaEvent) => void;
  #empty = 0;

  constructor(emit: (event: MediaEvent) => void) {
    this.#emit = emit;
  }

  /** Number of messages without a body. */
  get empty(): number {
    return this.#empty;
  }

  /** @throws AppError `media-malformed` */
  push({ type, timestampMs, payload }: RtmpMessage): void {
    if (type === MESSAGE.dataAmf3) this.#read('script', timestampMs, skipAmf3Format(payload));
    else if (type !== MESSAGE.aggregate) this.#read(kinds[type], timestampMs, payload);
    else {
      for (const tag of splitAggregate(payload, timestampMs)) {
        this.#read(kinds[tag.type], tag.timestampMs, tag.body);
      }
    }
  }

  #read(kind: FlvTag['kind'] | undefined, timestampMs: number, body: Buffer): void {
    if (kind === undefined) return;
    if (body.length === 0) this.#empty += 1;
    else readTagEvents({ kind, timestampMs, body }, this.#emit);
  }
}

/** Skips a first byte of 0, which announces AMF0. */
export function skipAmf3Format(payload: Buffer): Buffer {
  return payload[0] === 0 ? payload.subarray(1) : payload;
}
