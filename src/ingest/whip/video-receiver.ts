import { readVideoOrder } from '../../media/codecs/frame-sizes.ts';
import { type BuiltSample, VideoSampleBuilder } from '../../media/codecs/video-sample-builder.ts';
import { Av1SampleBuilder } from '../../media/rtp/av1-sample-builder.ts';
import { unitsOf } from '../../media/rtp/depacketize.ts';
import { Vp8SampleBuilder } from '../../media/rtp/vp8-sample-builder.ts';
import { codecs, type MediaEvent, ticksPerMs } from '../../media/samples/media-sample.ts';
import type { OrderedPacket } from '../../webrtc/rtp/jitter-buffer.ts';
import type { VideoCodec } from './accept-offer.ts';
import { FrameAssembler, type RtpFrame } from './frame-assembler.ts';
import { FrameTimes } from './frame-times.ts';

interface VideoReceiverOptions {
  readonly codec: VideoCodec;
  timeOf(timestamp: number, arrivedAtMs: number): number;
  emit(event: MediaEvent): void;
  requestKeyframe(): void;
}

/** Undefined for a frame without a picture. */
type BuildSample = (payloads: readonly Buffer[]) => BuiltSample | 'malformed' | undefined;

const inOrder = { maxReordered: 0, syntax: undefined, frameSeconds: undefined };
/** Browsers send keyframes only on request, and players join at them. */
const keyframeIntervalMs = 2_000;
/** A lost request is repeated, and a keyframe takes a moment. */
const repeatRequestMs = 500;

/** Turns the packets of a video track into samples. After a loss, frames are left out up to the next keyframe. */
export class VideoReceiver {
  readonly #options: VideoReceiverOptions;
  readonly #frames = new FrameAssembler();
  readonly #times = new FrameTimes();
  readonly #build: BuildSample;
  #needsKeyframe = true;
  #keyframeAtMs: number | undefined;
  #requestedAtMs: number | undefined;

  constructor(options: VideoReceiverOptions) {
    this.#options = options;
    this.#build = sampleBuilder(options.codec);
  }

  push(packet: OrderedPacket, nowMs: number): void {
    // The first frame is a keyframe, which needs a moment to arrive.
    this.#requestedAtMs ??= nowMs;
    this.#keyframeAtMs ??= nowMs;
    if (packet.missing > 0) this.#needsKeyframe = true;
    for (const frame of this.#frames.push(packet)) this.#handle(frame, nowMs);
    this.#requestWhenDue(nowMs);
  }

  #handle({ payloads, timestamp, arrivedAtMs }: RtpFrame, nowMs: number): void {
    const { codec, timeOf, emit } = this.#options;
    const ms = timeOf(timestamp, arrivedAtMs);
    const sample = this.#build(payloads);
    if (sample === 'malformed') this.#needsKeyframe = true;
    // Some senders give parameter sets timestamps of their own.
    if (sample === undefined || sample === 'malformed') return;
    const { record, data, isKeyframe } = sample;
    const track = { kind: 'video', trackId: 0, codec: codecs[codec] } as const;
    if (record !== undefined) {
      this.#times.configure(readVideoOrder(codec, record) ?? inOrder);
      emit({ type: 'config', ...track, data: record });
    }
    if (isKeyframe) {
      if (this.#needsKeyframe) this.#times.restart();
      this.#needsKeyframe = false;
      this.#keyframeAtMs = nowMs;
    }
    if (this.#needsKeyframe) return;
    const frames = this.#times.push({ ms, data, isKeyframe });
    this.#needsKeyframe = frames === undefined;
    for (const frame of frames ?? []) {
      const dtsTicks = Math.floor(frame.dtsMs) * ticksPerMs;
      const ptsTicks = Math.round(frame.ptsMs * ticksPerMs);
      emit({
        type: 'sample',
        ...track,
        dtsTicks,
        ptsTicks,
        isKeyframe: frame.isKeyframe,
        data: frame.data,
      });
    }
  }

  #requestWhenDue(nowMs: number): void {
    const isDue = this.#needsKeyframe || nowMs - this.#keyframeAtMs! >= keyframeIntervalMs;
    if (!isDue || nowMs - this.#requestedAtMs! < repeatRequestMs) return;
    this.#requestedAtMs = nowMs;
    this.#options.requestKeyframe();
  }
}

function sampleBuilder(codec: VideoCodec): BuildSample {
  if (codec === 'av01' || codec === 'vp08') {
    const builder = codec === 'av01' ? new Av1SampleBuilder() : new Vp8SampleBuilder();
    return payloads => builder.build(payloads) ?? 'malformed';
  }
  const builder = new VideoSampleBuilder(codec);
  return payloads => {
    const units = unitsOf(codec, payloads);
    return units === undefined ? 'malformed' : builder.build(units);
  };
}
