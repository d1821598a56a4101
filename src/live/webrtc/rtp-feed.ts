import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { avcParameterSets, splitLengths } from '../../media/codecs/nal-units.ts';
import { OPUS_SAMPLE_RATE, opusPacketSamples } from '../../media/codecs/opus.ts';
import { packetizeH264 } from '../../media/rtp/packetize.ts';
import {
  type CodecConfig,
  codecs,
  compositionMs,
  type MediaSample,
  type TrackKind,
} from '../../media/samples/media-sample.ts';
import type { BroadcastState } from '../broadcast/broadcast-state.ts';
import {
  type BroadcastMedia,
  type BroadcastSubscriber,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';
import { mustEncode } from '../broadcast/codec-policy.ts';
import { PackagedSamples } from '../restream/packaged-samples.ts';

/** A frame of video or a packet of audio, shared by all viewers. */
export interface RtpFrame {
  readonly kind: TrackKind;
  readonly isKeyframe: boolean;
  /** RTP timestamp at 90 kHz for video, and 48 kHz for audio. Does not wrap. */
  readonly timestamp: number;
  /** NTP time since 1900: the same clock for audio and video. */
  readonly ntpMs: number;
  payloads(): readonly Buffer[];
}

interface RtpViewer {
  frame(frame: RtpFrame): void;
  /** Nothing follows. @param reason for people */
  ended(reason: string): void;
}

/** Below the smallest usual path MTU, with the headers of IPv6, UDP, SRTP and TURN. */
const maxPayloadBytes = 1_180;
const videoRate = 90_000;
const ticksPerMs = { video: videoRate / 1000, audio: OPUS_SAMPLE_RATE / 1000 } as const;
/** Milliseconds from 1900 to 1970. RFC 5905, 6. */
const ntpEpochMs = 2_208_988_800_000;
/** Maximum size of the frames since the last keyframe. */
const maxCachedBytes = 6 * 1024 * 1024;
const maxCachedFrames = 1_200;
/** Step between cached frames, which a viewer who joins decodes at once. */
const cachedStepMs = 1;
/** Timestamps of packets follow from their lengths; a larger difference is a gap. */
const maxAudioDriftMs = 15;
const ACCESS_UNIT_DELIMITER = 9;
const FILLER_DATA = 12;
const SEQUENCE_PARAMETER_SET = 7;

/** One broadcast as RTP payloads, which are written once for all viewers, and not at all without. */
export class RtpFeed implements BroadcastSubscriber {
  readonly name = 'webrtc';
  readonly #viewers = new Set<RtpViewer>();
  readonly #startedAtMs: number;
  readonly #onEnded: () => void;
  readonly #problems: Partial<Record<TrackKind, string>> = {};
  readonly #encoded = new PackagedSamples(({ media, atMs }) => {
    if (media.type === 'config') this.#configure(media);
    else this.#takeVideo(media, atMs);
  });
  /** The publisher's video cannot be played: viewers get what is encoded from it. */
  #isEncoded = false;
  #config: CodecConfig | undefined;
  #parameterSets: readonly Buffer[] = [];
  #lengthBytes = 4;
  /** Frames since the last keyframe; empty when that is too long ago. */
  #cached: RtpFrame[] = [];
  #cachedBytes = 0;
  #needsKeyframe = true;
  #nextAudioTicks: number | undefined;
  #isEnded = false;

  constructor(startedAtMs: number, onEnded: () => void) {
    this.#startedAtMs = startedAtMs;
    this.#onEnded = onEnded;
  }

  /** Why browsers cannot play the broadcast; undefined when they can, as far as is known. */
  get problem(): string | undefined {
    return this.#problems.video ?? this.#problems.audio;
  }

  /** Video has come. */
  get hasBegun(): boolean {
    return !this.#needsKeyframe || this.#cached.length > 0;
  }

  add(viewer: RtpViewer): void {
    if (this.#isEnded) viewer.ended(endedText);
    else this.#viewers.add(viewer);
  }

  remove(viewer: RtpViewer): void {
    this.#viewers.delete(viewer);
  }

  /** The frames since the last keyframe, with timestamps so close that the newest is shown at once. */
  recentVideo(): RtpFrame[] {
    const frames = this.#cached;
    const newest = frames.at(-1);
    if (newest === undefined) return [];
    return frames.map((frame, index) => {
      const earlierMs = (frames.length - 1 - index) * cachedStepMs;
      return {
        kind: 'video',
        isKeyframe: frame.isKeyframe,
        timestamp: newest.timestamp - earlierMs * ticksPerMs.video,
        ntpMs: newest.ntpMs - earlierMs,
        payloads: () => frame.payloads(),
      };
    });
  }

  media({ media, atMs, isSlate }: BroadcastMedia): void {
    // Viewers keep the last frame: a slate has audio that they may not be able to decode.
    if (isSlate) return;
    if (media.kind === 'audio') this.#takeAudio(media, atMs);
    else if (media.type === 'config') this.#configureSource(media);
    else if (!this.#isEncoded) this.#takeVideo(media, atMs);
  }

  tracks(
    rendition: string,
    { video }: Partial<Record<TrackKind, TrackDescription>>,
    _init: Buffer,
    isSlate: boolean,
  ): void {
    if (this.#isEncoded && !isSlate && rendition === sourceRendition && video !== undefined)
      this.#encoded.begin({ video });
  }

  sample(rendition: string, kind: TrackKind, sample: Sample, atMs: number, isSlate: boolean): void {
    // Without a configuration, the samples are of the publisher before.
    if (!this.#isEncoded || this.#config === undefined || isSlate) return;
    if (kind === 'video' && rendition === sourceRendition) this.#encoded.add(kind, sample, atMs);
  }

  stateChanged(state: BroadcastState): void {
    if (state !== 'waiting' && state !== 'stopping') return;
    // The next publisher may send something else.
    delete this.#problems.video;
    delete this.#problems.audio;
    this.#config = undefined;
  }

  ended(): void {
    this.#isEnded = true;
    this.#cached = [];
    this.#onEnded();
    this.#closeViewers(endedText);
  }

  #takeVideo(sample: MediaSample, atMs: number): void {
    if (this.#problems.video !== undefined) return;
    // Times of WHIP are rounded to milliseconds.
    if (Math.abs(compositionMs(sample)) > 1) {
      this.#refuse('video', bFramesText);
      return;
    }
    const { isKeyframe, data } = sample;
    if (this.#needsKeyframe && !isKeyframe) return;
    this.#needsKeyframe = false;
    const frame = this.#videoFrame(data, isKeyframe, atMs);
    this.#cache(frame, data.length);
    this.#send(frame);
  }

  #configureSource(config: CodecConfig): void {
    const isEncoded = mustEncode(config.codec);
    if (isEncoded && !this.#isEncoded) {
      delete this.#problems.video;
      this.#config = undefined;
    }
    this.#isEncoded = isEncoded;
    if (!isEncoded) this.#configure(config);
  }

  #configure(config: CodecConfig): void {
    const { codec, data } = config;
    // Ignores a repeated configuration: some encoders send it between keyframes.
    if (this.#config?.codec === codec && this.#config.data.equals(data)) return;
    this.#config = config;
    const sets = codec === codecs.avc1 ? avcParameterSets(data) : undefined;
    if (sets === undefined) {
      const text = `The video is ${codec.name}, and over WebRTC it must be H.264. Choose H.264 in the encoder.`;
      this.#refuse('video', text);
      return;
    }
    delete this.#problems.video;
    this.#needsKeyframe = true;
    this.#parameterSets = sets.units;
    this.#lengthBytes = sets.lengthBytes;
  }

  #videoFrame(data: Buffer, isKeyframe: boolean, atMs: number): RtpFrame {
    const [parameterSets, lengthBytes] = [this.#parameterSets, this.#lengthBytes];
    let payloads: readonly Buffer[] | undefined;
    return {
      kind: 'video',
      isKeyframe,
      ntpMs: ntpEpochMs + this.#startedAtMs + atMs,
      timestamp: Math.round(atMs * ticksPerMs.video),
      payloads: () => {
        if (payloads !== undefined) return payloads;
        const units = splitLengths(data, lengthBytes).filter(unit => {
          const type = unit[0]! & 0x1f;
          return type !== ACCESS_UNIT_DELIMITER && type !== FILLER_DATA;
        });
        const hasOwn = units.some(unit => (unit[0]! & 0x1f) === SEQUENCE_PARAMETER_SET);
        const all = isKeyframe && !hasOwn ? [...parameterSets, ...units] : units;
        payloads = packetizeH264(all, maxPayloadBytes);
        return payloads;
      },
    };
  }

  #cache(frame: RtpFrame, bytes: number): void {
    if (frame.isKeyframe) {
      this.#cached = [];
      this.#cachedBytes = 0;
    } else if (this.#cached.length === 0) return;
    this.#cachedBytes += bytes;
    this.#cached.push(frame);
    if (this.#cachedBytes > maxCachedBytes || this.#cached.length > maxCachedFrames) this.#cached = [];
  }

  #takeAudio({ type, codec, data: payload }: MediaSample | CodecConfig, atMs: number): void {
    if (codec !== codecs.Opus) {
      if (this.#problems.audio === undefined) this.#refuse('audio', audioText(codec.name));
      return;
    }
    delete this.#problems.audio;
    if (type === 'config') return;
    const samples = opusPacketSamples(payload);
    if (samples === undefined) return;
    const ticks = Math.round(atMs * ticksPerMs.audio);
    const expected = this.#nextAudioTicks ?? ticks;
    const timestamp = Math.abs(ticks - expected) > maxAudioDriftMs * ticksPerMs.audio ? ticks : expected;
    this.#nextAudioTicks = timestamp + samples;
    const ntpMs = ntpEpochMs + this.#startedAtMs + timestamp / ticksPerMs.audio;
    this.#send({ kind: 'audio', isKeyframe: true, timestamp, ntpMs, payloads: () => [payload] });
  }

  #send(frame: RtpFrame): void {
    for (const viewer of this.#viewers) viewer.frame(frame);
  }

  #refuse(kind: TrackKind, text: string): void {
    this.#problems[kind] = text;
    if (kind === 'video') {
      this.#cached = [];
      this.#needsKeyframe = true;
    }
    this.#closeViewers(text);
  }

  #closeViewers(reason: string): void {
    const viewers = [...this.#viewers];
    this.#viewers.clear();
    for (const viewer of viewers) viewer.ended(reason);
  }
}

const endedText = 'The broadcast has ended.';
const bFramesText =
  'The video has B-frames, which browsers cannot play over WebRTC. Set the B-frames of the encoder to 0.';

function audioText(codec: string): string {
  return `The audio is ${codec}, and over WebRTC it must be Opus. Publish over WHIP, or with Opus over enhanced RTMP or SRT.`;
}
