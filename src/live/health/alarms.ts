import { browserAdvice, encoderAdvice } from './alarm-advice.ts';
import { type BitrateComparison, BitrateShortfall, isHeldUp } from './bitrate-shortfall.ts';
import type { AlarmInputs } from './ingest-health.ts';

const alarmKinds = [
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

export type AlarmKind = (typeof alarmKinds)[number];

export interface RaisedAlarm {
  readonly kind: AlarmKind;
  readonly message: string;
  /** Unix time. */
  readonly raisedAtMs: number;
}

export interface AlarmChange {
  readonly kind: AlarmKind;
  readonly isRaised: boolean;
  readonly message: string;
}

interface AlarmAssessment {
  /** `bad` raises the alarm, `good` for long enough clears it, `between` changes nothing. */
  readonly level: 'bad' | 'between' | 'good';
  readonly message: string;
}

const clearedAfterMs = 10_000;
const raisedAgainAfterMs = 60_000;

/** Tolerates rounded RTMP times and one frame more than 4 s. */
const maxKeyframeSeconds = 4.1;
const collapsedBitrate = 0.3;
const recoveredBitrate = 0.5;
const collapsedFrameRate = 0.5;
const recoveredFrameRate = 0.7;
const missingTrackSeconds = 5;
const maxJumps = 3;
const raisedDriftMs = 500;
const clearedDriftMs = 400;
const maxLosses = 3;

type AlarmRule = (inputs: AlarmInputs, bitrate: BitrateComparison | undefined) => AlarmAssessment | undefined;

const alarmRules: Readonly<Record<AlarmKind, AlarmRule>> = {
  'keyframes-too-far-apart': ({ keyframeDistanceSeconds: seconds, hasRecoveryPoints }) =>
    seconds === undefined
      ? undefined
      : {
          level: seconds > maxKeyframeSeconds ? 'bad' : 'good',
          message: hasRecoveryPoints
            ? `No keyframe (IDR) arrived for ${tenths(seconds)} s: the encoder uses periodic intra refresh, and new viewers see nothing. Turn off intra refresh, and set the keyframe interval to 2 s in the encoder.`
            : `Keyframes are ${tenths(seconds)} s apart or more. Set the keyframe interval to 2 s in the encoder.`,
        },
  'bitrate-collapsed': inputs => {
    const { recent, usual } = inputs;
    if (recent === undefined || usual === undefined || usual.bitsPerSecond === 0) return undefined;
    const share = recent.bitsPerSecond / usual.bitsPerSecond;
    const isSimple = !isHeldUp(inputs, [recent], usual);
    return {
      level: isSimple || share >= recoveredBitrate ? 'good' : share < collapsedBitrate ? 'bad' : 'between',
      message: `The bitrate fell to ${kilobits(recent.bitsPerSecond)} kbit/s, from ${kilobits(usual.bitsPerSecond)} kbit/s in the minute before. ${adviceOf(inputs)['bitrate-collapsed']}`,
    };
  },
  'bitrate-low': (inputs, bitrate) =>
    bitrate && {
      level: ({ low: 'bad', between: 'between', recovered: 'good' } as const)[bitrate.level],
      message: `The ${inputs.isBrowser ? 'browser' : 'encoder'} sends ${kilobits(bitrate.bitsPerSecond)} kbit/s instead of ${kilobits(bitrate.expectedBitsPerSecond)} kbit/s. ${adviceOf(inputs)['bitrate-low']}`,
    },
  'frame-rate-collapsed': inputs => {
    const { recent, usual } = inputs;
    if (recent === undefined || usual === undefined || usual.framesPerSecond === 0) return undefined;
    const share = recent.framesPerSecond / usual.framesPerSecond;
    // Browsers send few frames of hidden video and of a screen that stays the same.
    if (inputs.isBrowser && !isHeldUp(inputs, [recent], usual)) return { level: 'good', message: '' };
    return {
      level: share < collapsedFrameRate ? 'bad' : share < recoveredFrameRate ? 'between' : 'good',
      message: `The frame rate fell to ${tenths(recent.framesPerSecond)} fps, from ${tenths(usual.framesPerSecond)} fps in the minute before. ${adviceOf(inputs)['frame-rate-collapsed']}`,
    };
  },
  'audio-missing': inputs => missingTrack(inputs, 'audio'),
  'video-missing': inputs => missingTrack(inputs, 'video'),
  'timestamps-jumping': inputs => ({
    level: inputs.recentJumps >= maxJumps ? 'bad' : 'good',
    message: `The timestamps of the stream jumped ${inputs.recentJumps} times within a minute. ${adviceOf(inputs)['timestamps-jumping']}`,
  }),
  'audio-video-drift': inputs => {
    const { audioDriftMilliseconds: ms } = inputs;
    return ms === undefined
      ? undefined
      : {
          level: Math.abs(ms) > raisedDriftMs ? 'bad' : Math.abs(ms) > clearedDriftMs ? 'between' : 'good',
          message: `Audio is ${Math.abs(ms)} ms ${ms < 0 ? 'behind' : 'ahead of'} the video. ${adviceOf(inputs)['audio-video-drift']}`,
        };
  },
  'frequent-reconnects': inputs => ({
    level: inputs.recentLosses >= maxLosses ? 'bad' : 'good',
    message: `The connection was lost ${inputs.recentLosses} times within five minutes. ${adviceOf(inputs)['frequent-reconnects']}`,
  }),
};

const clearedMessages: Readonly<Record<AlarmKind, string>> = {
  'keyframes-too-far-apart': 'The keyframe interval is short enough again.',
  'bitrate-collapsed': 'The bitrate is steady again.',
  'bitrate-low': 'The bitrate is back to normal.',
  'frame-rate-collapsed': 'The frame rate is steady again.',
  'audio-missing': 'Audio arrives again.',
  'video-missing': 'Video arrives again.',
  'timestamps-jumping': 'The timestamps of the stream are steady again.',
  'audio-video-drift': 'Audio and video are in sync again.',
  'frequent-reconnects': 'The connection is steady again.',
};

const connectionAlarms: ReadonlySet<AlarmKind> = new Set(['frequent-reconnects']);

interface AlarmState {
  raised: RaisedAlarm | undefined;
  /** Monotonic. */
  goodSinceMs: number | undefined;
  clearedMs: number | undefined;
}

/**
 * Raises at once, clears after 10 s without the problem, raises again after a minute. Keeps what it cannot evaluate.
 */
export class Alarms {
  readonly #states = new Map<AlarmKind, AlarmState>();
  readonly #shortfall = new BitrateShortfall();

  get raised(): RaisedAlarm[] {
    return alarmKinds.flatMap(kind => this.#states.get(kind)?.raised ?? []);
  }

  /** Call about once a second. @param nowMs monotonic @param atMs Unix time */
  evaluate(inputs: AlarmInputs, nowMs: number, atMs: number): AlarmChange[] {
    const bitrate = inputs.isConnected ? this.#shortfall.compare(inputs, nowMs) : undefined;
    return alarmKinds.flatMap(kind => {
      const isKnown = inputs.isConnected || connectionAlarms.has(kind);
      const assessment = isKnown ? alarmRules[kind](inputs, bitrate) : undefined;
      return this.#update(kind, assessment, nowMs, atMs) ?? [];
    });
  }

  #update(
    kind: AlarmKind,
    assessment: AlarmAssessment | undefined,
    nowMs: number,
    atMs: number,
  ): AlarmChange | undefined {
    const state = this.#states.get(kind);
    if (state?.raised === undefined) {
      const clearedMs = state?.clearedMs ?? Number.NEGATIVE_INFINITY;
      if (assessment?.level !== 'bad' || nowMs - clearedMs < raisedAgainAfterMs) return undefined;
      const { message } = assessment;
      const raised = { kind, message, raisedAtMs: atMs };
      this.#states.set(kind, { raised, goodSinceMs: undefined, clearedMs: undefined });
      return { kind, isRaised: true, message };
    }
    if (assessment?.level !== 'good') {
      state.goodSinceMs = undefined;
      return undefined;
    }
    state.goodSinceMs ??= nowMs;
    if (nowMs - state.goodSinceMs < clearedAfterMs) return undefined;
    state.raised = undefined;
    state.clearedMs = nowMs;
    return { kind, isRaised: false, message: clearedMessages[kind] };
  }
}

function adviceOf({ isBrowser }: AlarmInputs): typeof encoderAdvice {
  return isBrowser ? browserAdvice : encoderAdvice;
}

function missingTrack(inputs: AlarmInputs, track: 'audio' | 'video'): AlarmAssessment | undefined {
  const seconds = inputs.silentSeconds[track];
  if (seconds === undefined) return undefined;
  return {
    level: seconds >= missingTrackSeconds ? 'bad' : 'good',
    message: `No ${track} has arrived for ${Math.floor(seconds)} s. ${adviceOf(inputs)[`${track}-missing`]}`,
  };
}

function tenths(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function kilobits(bitsPerSecond: number): string {
  return String(Math.round(bitsPerSecond / 1000));
}
