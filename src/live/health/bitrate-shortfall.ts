import type { MeanRate } from './broadcast-meter.ts';
import type { AlarmInputs } from './ingest-health.ts';

export interface BitrateComparison {
  readonly bitsPerSecond: number;
  readonly expectedBitsPerSecond: number;
  readonly level: 'low' | 'between' | 'recovered';
}

interface ExpectedRate extends MeanRate {
  /** `held`: sent before as a constant bitrate. `declared`: never reached. `usual`: the mean of a variable rate. */
  readonly basis: 'held' | 'declared' | 'usual';
}

/** 15 s in windows of 5 s: longer than a scene without motion, and at least three keyframe intervals. */
const lowWindows = 3;
const lowShare = 0.7;
const recoveredShare = 0.8;
/** A constant bitrate varies less between windows, even with a keyframe every 4 s. */
const steadyShare = 0.75;
const minSteadyWindows = 9;
const minDeclaredWindows = 2;
/** Deviation of constant-bitrate encoders from the declared rate: on average, and in every window. */
const reachedShare = 0.85;
const maxDeclaredShare = 1.25;
/** A capped rate is flat. So is that of a still image with audio, which is below the smallest share. */
const flatWindows = 6;
const flatDeviation = 0.1;
const minFlatShare = 0.3;
const completeFrames = 0.9;
/** A rate that lasts longer is the encoder's new setting. */
const maxExpectedMs = 5 * 60_000;

/**
 * Detects bitrates that stay low because the encoder cannot send as configured: below 70 % of the declared rate, or
 * of the previous minute, for 15 s. In addition the encoder held the higher rate as a constant bitrate, frames are
 * missing, or a rate below the declared one is flat for 30 s.
 */
export class BitrateShortfall {
  #expected: (ExpectedRate & { readonly untilMs: number }) | undefined;

  /** Call once a second while connected. @param nowMs monotonic @returns undefined while too little is known */
  compare(
    { rates, declared }: Pick<AlarmInputs, 'rates' | 'declared'>,
    nowMs: number,
  ): BitrateComparison | undefined {
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
    const isLow =
      shares.every(share => share < lowShare) &&
      (expected.basis === 'held' || isMissingFrames(recent, expected) || isCapped(rates, expected));
    if (isLow && remembered === undefined) this.#expected = { ...expected, untilMs: nowMs + maxExpectedMs };
    const hasRecovered = shares.every(share => share >= recoveredShare);
    if (remembered !== undefined && (hasRecovered || nowMs >= remembered.untilMs)) this.#expected = undefined;
    return {
      bitsPerSecond: newest.bitsPerSecond,
      expectedBitsPerSecond: expected.bitsPerSecond,
      level: isLow ? 'low' : shares[0]! >= recoveredShare ? 'recovered' : 'between',
    };
  }
}

function expectedRate(
  before: readonly MeanRate[],
  { bitsPerSecond: declared, framesPerSecond = 0 }: AlarmInputs['declared'],
): ExpectedRate | undefined {
  const usual = meanRate(before);
  if (usual === undefined) {
    if (declared === undefined) return undefined;
    return { bitsPerSecond: declared, framesPerSecond, basis: 'declared' };
  }
  if (declared !== undefined && usual.bitsPerSecond < reachedShare * declared) {
    return { ...usual, bitsPerSecond: declared, basis: 'declared' };
  }
  const isReached =
    declared !== undefined && before.every(rate => rate.bitsPerSecond <= maxDeclaredShare * declared);
  const isHeld =
    before.length >= (isReached ? minDeclaredWindows : minSteadyWindows) &&
    before.every(rate => rate.bitsPerSecond >= steadyShare * usual.bitsPerSecond);
  if (isHeld || declared === undefined) return { ...usual, basis: isHeld ? 'held' : 'usual' };
  // A burst after a pause raises the mean of the minute above the setting of the encoder.
  return {
    bitsPerSecond: Math.min(usual.bitsPerSecond, declared),
    framesPerSecond:
      framesPerSecond > 0 ? Math.min(usual.framesPerSecond, framesPerSecond) : usual.framesPerSecond,
    basis: 'usual',
  };
}

function isMissingFrames(recent: readonly MeanRate[], { framesPerSecond }: ExpectedRate): boolean {
  return recent.every(rate => rate.framesPerSecond < completeFrames * framesPerSecond);
}

function isCapped(rates: readonly MeanRate[], { bitsPerSecond, basis }: ExpectedRate): boolean {
  const windows = rates.slice(0, flatWindows);
  const mean = meanRate(windows)?.bitsPerSecond ?? 0;
  return (
    basis === 'declared' &&
    windows.length === flatWindows &&
    mean >= minFlatShare * bitsPerSecond &&
    windows.every(rate => Math.abs(rate.bitsPerSecond - mean) <= flatDeviation * mean)
  );
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
