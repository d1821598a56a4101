import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { readSampleEntry } from '../../media/cmaf/sample-entry.ts';
import { OPUS_SAMPLE_RATE, opusPacketSamples } from '../../media/codecs/opus.ts';
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
import { H264Frames, ntpEpochMs, type RtpFrame, videoTicksPerMs } from './h264-frames.ts';

interface RtpViewer {
  frame(frame: RtpFrame): void;
  /** Nothing follows. @param reason for people */
  ended(reason: string): void;
}

/** Maximum size of the frames since the last keyframe. */
const maxCachedBytes = 6 * 1024 * 1024;
const maxCachedFrames = 1_200;
/** Step between cached frames, which a viewer who joins decodes at once. */
const cachedStepMs = 1;
/** Timestamps of packets follow from their lengths; a larger difference is a gap. */
const maxAudioDriftMs = 15;
const audioTicksPerMs = OPUS_SAMPLE_RATE / 1000;
/** Encoders have more latency than a passed-through source. */
const maxRenditionSilenceMs = 3_000;

/** A rendition that viewers can get. */
interface RtpRendition {
  readonly name: string;
  readonly bitsPerSecond: number;
}

interface EncodedRendition {
  readonly frames: H264Frames;
  readonly timescale: number;
  needsKeyframe: boolean;
  newestMs: number;
}

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
  readonly #source: H264Frames;
  /** Renditions that are encoded from the source, by name. */
  readonly #renditions = new Map<string, EncodedRendition>();
  #newestMs = 0;
  /** Frames since the last keyframe; empty when that is too long ago. */
  #cached: RtpFrame[] = [];
  #cachedBytes = 0;
  #needsKeyframe = true;
  #nextAudioTicks: number | undefined;
  #isEnded = false;

  constructor(startedAtMs: number, onEnded: () => void) {
    this.#startedAtMs = startedAtMs;
    this.#source = new H264Frames(sourceRendition, startedAtMs);
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

  /** Renditions of which video comes at the moment, the source first. */
  renditions(): RtpRendition[] {
    const { bitsPerSecond = 0 } = this.#source;
    const encoded = [...this.#renditions].flatMap(([name, { frames, newestMs, needsKeyframe }]) =>
      needsKeyframe || frames.bitsPerSecond === undefined || this.#newestMs - newestMs > maxRenditionSilenceMs
        ? []
        : [{ name, bitsPerSecond: frames.bitsPerSecond }],
    );
    return [
      { name: sourceRendition, bitsPerSecond },
      ...encoded.toSorted((one, other) => other.bitsPerSecond - one.bitsPerSecond),
    ];
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
        ...frame,
        timestamp: newest.timestamp - earlierMs * videoTicksPerMs,
        ntpMs: newest.ntpMs - earlierMs,
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

  encodedRenditions(names: readonly string[]): void {
    for (const name of this.#renditions.keys()) if (!names.includes(name)) this.#renditions.delete(name);
  }

  encodedTrack(name: string, track: TrackDescription): void {
    const config = name === sourceRendition ? undefined : avcConfigOf(track);
    const frames = new H264Frames(name, this.#startedAtMs);
    this.#renditions.delete(name);
    if (config === undefined || !frames.configure(config)) return;
    this.#renditions.set(name, { frames, timescale: track.timescale, needsKeyframe: true, newestMs: 0 });
  }

  encodedSample(name: string, sample: Sample, atMs: number): void {
    const rendition = this.#renditions.get(name);
    if (rendition === undefined || (rendition.needsKeyframe && !sample.isSync)) return;
    // Publishers may send renditions of their own, with B-frames.
    if (Math.abs(sample.compositionOffsetTicks) * 1_000 > rendition.timescale) {
      this.#renditions.delete(name);
      return;
    }
    rendition.needsKeyframe = false;
    rendition.newestMs = atMs;
    this.#send(rendition.frames.frame(sample.data, sample.isSync, atMs));
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
    this.#newestMs = atMs;
    const frame = this.#source.frame(data, isKeyframe, atMs);
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
    if (codec !== codecs.avc1 || !this.#source.configure(data)) {
      const text = `The video is ${codec.name}, and over WebRTC it must be H.264. Choose H.264 in the encoder.`;
      this.#refuse('video', text);
      return;
    }
    delete this.#problems.video;
    this.#needsKeyframe = true;
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
    const ticks = Math.round(atMs * audioTicksPerMs);
    const expected = this.#nextAudioTicks ?? ticks;
    const timestamp = Math.abs(ticks - expected) > maxAudioDriftMs * audioTicksPerMs ? ticks : expected;
    this.#nextAudioTicks = timestamp + samples;
    const ntpMs = ntpEpochMs + this.#startedAtMs + timestamp / audioTicksPerMs;
    const rendition = sourceRendition;
    this.#send({ kind: 'audio', rendition, isKeyframe: true, timestamp, ntpMs, payloads: () => [payload] });
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

/** Undefined for other codecs than H.264. */
function avcConfigOf({ kind, sampleEntry }: TrackDescription): Buffer | undefined {
  const { type, boxes } = readSampleEntry(sampleEntry, kind);
  const box = boxes.find(each => each.type === 'avcC');
  return kind !== 'video' || type !== 'avc1' || box === undefined
    ? undefined
    : sampleEntry.subarray(box.bodyStart, box.end);
}

const endedText = 'The broadcast has ended.';
const bFramesText =
  'The video has B-frames, which browsers cannot play over WebRTC. Set the B-frames of the encoder to 0.';

function audioText(codec: string): string {
  return `The audio is ${codec}, and over WebRTC it must be Opus. Publish over WHIP, or with Opus over enhanced RTMP or SRT.`;
}
