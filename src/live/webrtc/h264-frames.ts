import { avcParameterSets, splitLengths } from '../../media/codecs/nal-units.ts';
import { packetizeH264 } from '../../media/rtp/packetize.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';

/** A frame of video or a packet of audio, shared by all viewers. */
export interface RtpFrame {
  readonly kind: TrackKind;
  /** Name of the rendition, for video. */
  readonly rendition: string;
  readonly isKeyframe: boolean;
  /** RTP timestamp at 90 kHz for video, and 48 kHz for audio. Does not wrap. */
  readonly timestamp: number;
  /** NTP time since 1900: the same clock for audio and video. */
  readonly ntpMs: number;
  payloads(): readonly Buffer[];
}

export const videoTicksPerMs = 90;
/** Milliseconds from 1900 to 1970. RFC 5905, 6. */
export const ntpEpochMs = 2_208_988_800_000;
/** Below the smallest usual path MTU, with the headers of IPv6, UDP, SRTP and TURN. */
const maxPayloadBytes = 1_180;
const ACCESS_UNIT_DELIMITER = 9;
const FILLER_DATA = 12;
const SEQUENCE_PARAMETER_SET = 7;

/** Makes frames of the samples of one rendition. Keyframes have its parameter sets. */
export class H264Frames {
  readonly #rendition: string;
  readonly #startedAtMs: number;
  #parameterSets: readonly Buffer[] = [];
  #lengthBytes = 4;
  #gop = { fromMs: 0, bytes: 0 };
  #bitsPerSecond: number | undefined;

  /** @param startedAtMs Unix time of the broadcast's first media */
  constructor(rendition: string, startedAtMs: number) {
    this.#rendition = rendition;
    this.#startedAtMs = startedAtMs;
  }

  /** Bitrate between the last two keyframes. */
  get bitsPerSecond(): number | undefined {
    return this.#bitsPerSecond;
  }

  /** @param config AVCDecoderConfigurationRecord @returns false when it is malformed */
  configure(config: Buffer): boolean {
    const sets = avcParameterSets(config);
    if (sets === undefined) return false;
    this.#parameterSets = sets.units;
    this.#lengthBytes = sets.lengthBytes;
    return true;
  }

  frame(data: Buffer, isKeyframe: boolean, atMs: number): RtpFrame {
    this.#measure(data, isKeyframe, atMs);
    const [parameterSets, lengthBytes] = [this.#parameterSets, this.#lengthBytes];
    let payloads: readonly Buffer[] | undefined;
    return {
      kind: 'video',
      rendition: this.#rendition,
      isKeyframe,
      ntpMs: ntpEpochMs + this.#startedAtMs + atMs,
      timestamp: Math.round(atMs * videoTicksPerMs),
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

  #measure(data: Buffer, isKeyframe: boolean, atMs: number): void {
    const { fromMs, bytes } = this.#gop;
    if (isKeyframe) {
      if (bytes > 0 && atMs > fromMs) this.#bitsPerSecond = (bytes * 8_000) / (atMs - fromMs);
      this.#gop = { fromMs: atMs, bytes: 0 };
    }
    this.#gop.bytes += data.length;
  }
}
