import { type FrameOrder, type FrameOrderReader, frameOrderReader } from '../../media/codecs/frame-order.ts';
import type { VideoOrder } from '../../media/codecs/parameter-set.ts';

/** A frame in decoding order. */
interface ReceivedFrame {
  /** Time of its RTP timestamp. */
  readonly ms: number;
  /** H.264 and HEVC: NAL units with 4-byte lengths. */
  readonly data: Buffer;
  readonly isKeyframe: boolean;
}

interface TimedFrame {
  readonly dtsMs: number;
  readonly ptsMs: number;
  readonly data: Buffer;
  readonly isKeyframe: boolean;
}

interface OrderedFrame extends ReceivedFrame {
  readonly order: FrameOrder | undefined;
}

/** Frames that are decoded before one that is displayed earlier. ITU-T H.264 (08/2021), A.3.1; ITU-T H.265 (08/2021), A.4.2. */
const maxReordered = 16;
/** Frames without B-frames that tell that there are none: where the encoder says that there may be some, and elsewhere. */
const maxHeld = { declared: maxReordered, unknown: 4 } as const;
const usualFrameMs = 1000 / 30;
const smoothing = 8;

/**
 * Times at which frames are decoded and displayed. RTP timestamps are those of display (RFC 6184, 5.1), but some senders write
 * those of decoding. Then, the pictures tell in which order they are displayed.
 */
export class FrameTimes {
  /** Frames by which decoding is ahead of display. */
  #depth = 0;
  #orders: FrameOrderReader | undefined;
  #isDisplayTime: boolean | undefined;
  /** The first frames, until B-frames or their absence tell what the timestamps are. */
  #held: OrderedFrame[] = [];
  #maxHeld = 0;
  #frameMs = usualFrameMs;
  /** The newest frames, in decoding order. */
  #recent: OrderedFrame[] = [];
  /** Frames since the IDR picture or a restart. */
  #count = 0;
  #firstOrder = 0;
  #orderStep = 2;
  #lastDtsMs = Number.NEGATIVE_INFINITY;

  /** @param order of a new configuration */
  configure({ maxReordered: declared, syntax, frameSeconds }: VideoOrder): void {
    this.#depth = Math.min(declared ?? this.#depth, maxReordered);
    this.#orders = syntax && frameOrderReader(syntax);
    // H.265 has one count for both fields of a frame.
    if (syntax?.codec === 'hvc1') this.#orderStep = 1;
    if (frameSeconds !== undefined) this.#frameMs = frameSeconds * 1000;
    this.#maxHeld = declared === undefined ? maxHeld.unknown : maxHeld.declared;
    if (declared === 0 || syntax === undefined) this.#isDisplayTime = true;
    this.restart();
  }

  /** A keyframe follows that refers to nothing before it. */
  restart(): void {
    this.#held = [];
    this.#recent = [];
    this.#count = 0;
  }

  /** Returns the frames whose times are known now; undefined when the frames before were misunderstood, up to the next keyframe. */
  push(frame: ReceivedFrame): TimedFrame[] | undefined {
    const ordered = { ...frame, order: this.#orders?.next(frame.data) };
    if (this.#isDisplayTime !== undefined) {
      const timed = this.#time(ordered);
      return timed && [timed];
    }
    const displayed = displayedLater(this.#held, ordered);
    this.#held.push(ordered);
    const isKnown = displayed.byTime + displayed.byOrder > 0 || ordered.order === undefined;
    if (!isKnown && this.#held.length < this.#maxHeld) return [];
    this.#isDisplayTime = displayed.byTime > 0 || displayed.byOrder === 0;
    const held = this.#held;
    this.#held = [];
    if (!this.#isDisplayTime) this.#frameMs = (ordered.ms - held[0]!.ms) / (held.length - 1);
    if (held.some(({ order }) => (order?.order ?? 0) % 2 !== 0)) this.#orderStep = 1;
    this.#depth = Math.max(this.#depth, displayed.byTime, displayed.byOrder);
    const timed = held.map(each => this.#time(each));
    return timed.every(each => each !== undefined) ? timed : undefined;
  }

  #time(frame: OrderedFrame): TimedFrame | undefined {
    const { ms, order, data, isKeyframe } = frame;
    if (order?.isIdr === true || this.#count === 0) {
      this.#firstOrder = order?.order ?? 0;
      this.#count = 0;
    }
    const { byTime, byOrder } = displayedLater(this.#recent, frame);
    const isDecodingTime = byOrder > 0 && byTime === 0;
    const depth = Math.max(byTime, byOrder);
    if (depth > this.#depth || (isDecodingTime && this.#isDisplayTime === true)) {
      this.#depth = Math.max(depth, this.#depth);
      this.#isDisplayTime = !isDecodingTime;
      this.restart();
      return undefined;
    }
    const last = this.#recent.at(-1);
    this.#recent = [...this.#recent.slice(-maxReordered), frame];
    const { dtsMs, ptsMs } = this.#isDisplayTime ? this.#fromDisplay(ms) : this.#fromDecoding(frame, last);
    this.#count += 1;
    this.#lastDtsMs = Math.min(ptsMs, Math.max(dtsMs, this.#lastDtsMs + 1));
    return { dtsMs: this.#lastDtsMs, ptsMs, data, isKeyframe };
  }

  /** Decodes each frame when the one is displayed that comes `depth` frames earlier in the order of display. */
  #fromDisplay(ms: number): { readonly dtsMs: number; readonly ptsMs: number } {
    const shown = this.#recent.map(each => each.ms).toSorted((one, other) => other - one);
    const newest = shown.slice(0, this.#depth + 1);
    const missing = this.#depth + 1 - newest.length;
    return { dtsMs: newest.at(-1)! - missing * this.#frameMs, ptsMs: ms };
  }

  #fromDecoding({ ms, order }: OrderedFrame, last: OrderedFrame | undefined) {
    if (last !== undefined) this.#frameMs += (ms - last.ms - this.#frameMs) / smoothing;
    const position = ((order?.order ?? 0) - this.#firstOrder) / this.#orderStep;
    const ptsMs = ms + (position - this.#count) * this.#frameMs;
    return { dtsMs: ms - this.#depth * this.#frameMs, ptsMs };
  }
}

/** Counts frames before this one that are displayed after it. */
function displayedLater(before: readonly OrderedFrame[], { ms, order }: OrderedFrame) {
  const idrAt =
    order?.isIdr === true ? before.length : before.findLastIndex(each => each.order?.isIdr === true);
  const sameSequence = before.slice(Math.max(0, idrAt));
  return {
    byTime: before.filter(each => each.ms > ms).length,
    byOrder:
      order === undefined ? 0 : sameSequence.filter(each => (each.order?.order ?? 0) > order.order).length,
  };
}
