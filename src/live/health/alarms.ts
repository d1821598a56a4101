import { type BitrateComparison, BitrateShortfall } from './bitrate-shortfall.ts';
import type { AlarmInputs } from './ingest-health.ts';

/** What can be wrong with what a publisher sends. */
export const alarmKinds = [
  'keyframes-too-far-apart',
  'bitrate-collapsed',
  'bitrate-low',
  'frame-rate-collapsed',
  'audio-missing',
  'video-missing',
  'timestamps-jumping',
  'audio-video-drift',
  'frequent-reconnects',
] as const;

/** A kind of {@link alarmKinds}. */
export type AlarmKind = (typeof alarmKinds)[number];

/** An alarm that is on. */
export interface RaisedAlarm {
  readonly kind: AlarmKind;
  /** One sentence for the person at the encoder, and one with advice. */
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly raisedAtMs: number;
}

/** An alarm went on or off. */
export interface AlarmChange {
  readonly kind: AlarmKind;
  readonly isRaised: boolean;
  readonly message: string;
}

/** How one thing stands: `bad` raises, `well` for long enough clears, and between the two nothing changes. */
interface AlarmAssessment {
  readonly is: 'bad' | 'between' | 'well';
  readonly message: string;
}

const clearedAfterMs = 10_000;
const raisedAgainAfterMs = 60_000;

/** RTMP rounds times, and a frame more is no other setting. */
const longestKeyframeSeconds = 4.1;
const collapsedBitrate = 0.3;
const recoveredBitrate = 0.5;
const collapsedFrameRate = 0.5;
const recoveredFrameRate = 0.7;
const silentSeconds = 5;
const mostJumps = 3;
const driftMs = 500;
const littleDriftMs = 400;
const mostLosses = 3;

type AlarmRule = (signs: AlarmInputs, bitrate: BitrateComparison | undefined) => AlarmAssessment | undefined;

/** Undefined where it cannot be told now. */
const alarmRules: Readonly<Record<AlarmKind, AlarmRule>> = {
  'keyframes-too-far-apart': ({ keyframeDistanceSeconds: seconds }) =>
    seconds === undefined
      ? undefined
      : {
          is: seconds > longestKeyframeSeconds ? 'bad' : 'well',
          message: `Keyframes come every ${tenths(seconds)} s or less often. Set the keyframe interval to 2 s in the encoder.`,
        },
  'bitrate-collapsed': ({ recent, usual }) => {
    if (recent === undefined || usual === undefined || usual.bitsPerSecond === 0) return undefined;
    const share = recent.bitsPerSecond / usual.bitsPerSecond;
    return {
      is: share < collapsedBitrate ? 'bad' : share < recoveredBitrate ? 'between' : 'well',
      message: `Only ${kilobits(recent.bitsPerSecond)} kbit/s come, after ${kilobits(usual.bitsPerSecond)} kbit/s in the minute before. Check the upload of the encoder's network, or choose a lower bitrate.`,
    };
  },
  'bitrate-low': (_, bitrate) =>
    bitrate && {
      is: ({ low: 'bad', between: 'between', recovered: 'well' } as const)[bitrate.level],
      message: `The encoder sends ${kilobits(bitrate.bitsPerSecond)} kbit/s instead of ${kilobits(bitrate.expectedBitsPerSecond)} kbit/s. Check the upload of the encoder's network, or choose a lower bitrate.`,
    },
  'frame-rate-collapsed': ({ recent, usual }) => {
    if (recent === undefined || usual === undefined || usual.framesPerSecond === 0) return undefined;
    const share = recent.framesPerSecond / usual.framesPerSecond;
    return {
      is: share < collapsedFrameRate ? 'bad' : share < recoveredFrameRate ? 'between' : 'well',
      message: `Only ${tenths(recent.framesPerSecond)} frames a second come, after ${tenths(usual.framesPerSecond)} in the minute before. Check how busy the encoder's machine is, or choose a smaller picture.`,
    };
  },
  'audio-missing': ({ silentSeconds: { audio } }) =>
    missing(audio, 'sound', 'Check the audio source and the audio track of the encoder.'),
  'video-missing': ({ silentSeconds: { video } }) =>
    missing(video, 'picture', 'Check the video source and the network of the encoder.'),
  'timestamps-jumping': ({ recentJumps }) => ({
    is: recentJumps >= mostJumps ? 'bad' : 'well',
    message: `The timestamps of the stream jumped ${recentJumps} times within a minute. Restart the encoder, and check the clock of its sources.`,
  }),
  'audio-video-drift': ({ audioDriftMilliseconds: ms }) =>
    ms === undefined
      ? undefined
      : {
          is: Math.abs(ms) > driftMs ? 'bad' : Math.abs(ms) > littleDriftMs ? 'between' : 'well',
          message: `Sound is ${Math.abs(ms)} ms ${ms < 0 ? 'behind' : 'ahead of'} the picture. Check the sample rate and the clocks of the audio sources in the encoder.`,
        },
  'frequent-reconnects': ({ recentLosses }) => ({
    is: recentLosses >= mostLosses ? 'bad' : 'well',
    message: `The connection was lost ${recentLosses} times within five minutes. Check the encoder's network, or choose a lower bitrate.`,
  }),
};

const clearedMessages: Readonly<Record<AlarmKind, string>> = {
  'keyframes-too-far-apart': 'Keyframes come often enough again.',
  'bitrate-collapsed': 'The bitrate is steady again.',
  'bitrate-low': 'The bitrate is back to normal.',
  'frame-rate-collapsed': 'The frame rate is steady again.',
  'audio-missing': 'Sound comes again.',
  'video-missing': 'Picture comes again.',
  'timestamps-jumping': 'The timestamps of the stream are steady again.',
  'audio-video-drift': 'Sound and picture are together again.',
  'frequent-reconnects': 'The connection is steady again.',
};

/** These are told by the publisher's losses, which also happen while there is none. */
const connectionAlarms: ReadonlySet<AlarmKind> = new Set(['frequent-reconnects']);

interface AlarmState {
  raised: RaisedAlarm | undefined;
  /** Monotonic times. */
  wellSinceMs: number | undefined;
  clearedMs: number | undefined;
}

/**
 * The alarms of one broadcast. One is raised at once, cleared when all was well for 10 s, and raised again a minute after that at the
 * earliest. What cannot be told, because no publisher is there, leaves them as they are.
 */
export class Alarms {
  readonly #standings = new Map<AlarmKind, AlarmState>();
  readonly #shortfall = new BitrateShortfall();

  /** Those that are on, in the order of {@link alarmKinds}. */
  get raised(): RaisedAlarm[] {
    return alarmKinds.flatMap(kind => this.#standings.get(kind)?.raised ?? []);
  }

  /**
   * To be asked about once a second.
   *
   * @param nowMs monotonic
   * @param atMs milliseconds since 1970
   */
  evaluate(signs: AlarmInputs, nowMs: number, atMs: number): AlarmChange[] {
    const changes: AlarmChange[] = [];
    const bitrate = signs.isConnected ? this.#shortfall.compare(signs, nowMs) : undefined;
    for (const kind of alarmKinds) {
      const isTold = signs.isConnected || connectionAlarms.has(kind);
      const verdict = isTold ? alarmRules[kind](signs, bitrate) : undefined;
      const standing = this.#standings.get(kind);
      if (verdict === undefined) {
        if (standing !== undefined) standing.wellSinceMs = undefined;
        continue;
      }
      const change = this.#stand(kind, standing, verdict, nowMs, atMs);
      if (change !== undefined) changes.push(change);
    }
    return changes;
  }

  #stand(
    kind: AlarmKind,
    standing: AlarmState | undefined,
    { is, message }: AlarmAssessment,
    nowMs: number,
    atMs: number,
  ): AlarmChange | undefined {
    if (standing?.raised === undefined) {
      if (is !== 'bad' || nowMs - (standing?.clearedMs ?? Number.NEGATIVE_INFINITY) < raisedAgainAfterMs) {
        return undefined;
      }
      const raised = { kind, message, raisedAtMs: atMs };
      this.#standings.set(kind, { raised, wellSinceMs: undefined, clearedMs: undefined });
      return { kind, isRaised: true, message };
    }
    if (is !== 'well') {
      standing.wellSinceMs = undefined;
      return undefined;
    }
    standing.wellSinceMs ??= nowMs;
    if (nowMs - standing.wellSinceMs < clearedAfterMs) return undefined;
    standing.raised = undefined;
    standing.clearedMs = nowMs;
    return { kind, isRaised: false, message: clearedMessages[kind] };
  }
}

function missing(seconds: number | undefined, what: string, advice: string): AlarmAssessment | undefined {
  if (seconds === undefined) return undefined;
  return {
    is: seconds >= silentSeconds ? 'bad' : 'well',
    message: `No ${what} came for ${Math.floor(seconds)} s. ${advice}`,
  };
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function kilobits(bitsPerSecond: number): string {
  return String(Math.round(bitsPerSecond / 1000));
}
