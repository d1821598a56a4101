import type { MeanRate } from './broadcast-meter.ts';
import type { AlarmInputs } from './ingest-health.ts';

export interface BitrateComparison {
  readonly bitsPerSecond: number;
  readonly expectedBitsPerSecond: number;
  readonly level: 'low' | 'between' | 'recovered';
}

interface ExpectedRate extends MeanRate {
  /** The encoder announced the bitrate, and has not reached it. */
  readonly isDeclared?: boolean;
}

/** 15 s in windows of 5 s: longer than a scene without motion, and at least three keyframe intervals. */
const lowWindows = 3;
const lowShare = 0.7;
const recoveredShare = 0.8;
/** Deviation of constant-bitrate encoders from the declared rate, on average. */
const reachedShare = 0.85;
/** Delay that encoders and networks do not cause. */
const minLateMs = 500;
const minLostShare = 0.01;
const completeFrames = 0.9;
/** A rate that lasts longer is the encoder's new setting. */
const maxExpectedMs = 5 * 60_000;

/**
 * Detects bitrates that stay low because the encoder cannot send what it makes: below 70 % of the declared rate, or of
 * the previous minute, for 15 s, while media arrives late, or packets or frames are lost. A low bitrate alone is what
 * simple content needs.
 */
export class BitrateShortfall {
  #expected: (ExpectedRate & { readonly untilMs: number }) | undefined;

  /** Call once a second while connected. @param nowMs monotonic @returns undefined while too little is known */
  compare(inputs: AlarmInputs, nowMs: number): BitrateComparison | undefined {
    const { rates, declared } = inputs;
    const recent = rates.slice(0, lowWindows);
    const [newest] = recent;
    if (newest === undefined || recent.length < lowWindows) {
      this.#expected = undefined;
      return undefined;
    }
    const remembered = this.#expected;
    // The drop began within the window before the low ones.
    const expected = remembered ?? expectedRate(rates.slice(lowWindows + 1), declared);
    if (expected === undefined || expected.bitsPerSecond === 0) return undefined;
    const shares = recent.map(({ bitsPerSecond }) => bitsPerSecond / expected.bitsPerSecond);
    const isLate = isHeldUp(inputs, recent, expected);
    const isLow = isLate && shares.every(share => share < lowShare);
    if (isLow && remembered === undefined) this.#expected = { ...expected, untilMs: nowMs + maxExpectedMs };
    const hasRecovered = shares.every(share => share >= recoveredShare);
    if (remembered !== undefined && (hasRecovered || nowMs >= remembered.untilMs)) this.#expected = undefined;
    return {
      bitsPerSecond: newest.bitsPerSecond,
      expectedBitsPerSecond: expected.bitsPerSecond,
      level: isLow ? 'low' : shares[0]! >= recoveredShare || !isLate ? 'recovered' : 'between',
    };
  }
}

function expectedRate(
  before: readonly MeanRate[],
  { bitsPerSecond: declared, framesPerSecond = 0 }: AlarmInputs['declared'],
): ExpectedRate | undefined {
  const usual = meanRate(before);
  if (declared === undefined) return usual;
  if (usual === undefined) return { bitsPerSecond: declared, framesPerSecond, isDeclared: true };
  if (usual.bitsPerSecond < reachedShare * declared) {
    return { ...usual, bitsPerSecond: declared, isDeclared: true };
  }
  // A burst after a pause raises the mean of the minute above the setting of the encoder.
  return framesPerSecond > 0
    ? { ...usual, framesPerSecond: Math.min(usual.framesPerSecond, framesPerSecond) }
    : usual;
}

/**
 * Media arrives late, or packets or frames are lost. Against a bitrate that is only declared, missing frames count if they explain
 * the low one: an encoder on a busy machine skips some, also of simple content.
 */
export function isHeldUp(
  { lateMs, lostShare, isBrowser }: Pick<AlarmInputs, 'lateMs' | 'lostShare' | 'isBrowser'>,
  recent: readonly MeanRate[],
  expected: ExpectedRate,
): boolean {
  if (lateMs >= minLateMs || lostShare >= minLostShare) return true;
  // Browsers choose the frame rate by what there is to see.
  if (isBrowser) return false;
  return recent.every(({ bitsPerSecond, framesPerSecond }) => {
    const frameShare = framesPerSecond / expected.framesPerSecond;
    const explains = bitsPerSecond >= lowShare * frameShare * expected.bitsPerSecond;
    return frameShare < completeFrames && (expected.isDeclared !== true || explains);
  });
}

function meanRate(rates: readonly MeanRate[]): MeanRate | undefined {
  if (rates.length === 0) return undefined;
  const mean = (read: (rate: MeanRate) => number) =>
    rates.reduce((sum, rate) => sum + read(rate), 0) / rates.length;
  return {
    bitsPerSecond: mean(rate => rate.bitsPerSecond),
    framesPerSecond: mean(rate => rate.framesPerSecond),
  };
}
