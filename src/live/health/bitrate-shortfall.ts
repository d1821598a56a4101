import type { MeanRate } from './broadcast-meter.ts';
import type { AlarmInputs } from './ingest-health.ts';

/** The bitrate of a publisher against the one that its encoder is set to. */
export interface BitrateComparison {
  readonly bitsPerSecond: number;
  readonly expectedBitsPerSecond: number;
  /** `between`: neither low nor recovered. */
  readonly level: 'low' | 'between' | 'recovered';
}

interface ExpectedRate extends MeanRate {
  /** `held`: sent before as steadily as a constant bitrate. `declared`: never reached. `usual`: the mean of a rate that varies. */
  readonly basis: 'held' | 'declared' | 'usual';
}

/** 15 s of windows of 5 s: longer than a scene without motion, and three keyframe intervals at least. */
const lowWindows = 3;
const lowShare = 0.7;
const recoveredShare = 0.8;
/** A constant bitrate varies by less from window to window, also with a keyframe every 4 s. */
const steadyShare = 0.75;
const minSteadyWindows = 9;
const minDeclaredWindows = 2;
/** Encoders with a constant bitrate keep to the declared one this well: on average, and in every window. */
const reachedShare = 0.85;
const maxDeclaredShare = 1.25;
/** A capped rate is flat. So is that of a still picture with sound, which is below the smallest share. */
const flatWindows = 6;
const flatDeviation = 0.1;
const minFlatShare = 0.3;
/** Encoders that cannot send everything leave out frames. */
const completeFrames = 0.9;
/** A rate that lasts for longer is what the encoder is set to now. */
const maxExpectedMs = 5 * 60_000;

/**
 * Finds bitrates that stay low because the encoder cannot send what it is set to, and not because there is little to encode.
 *
 * A bitrate is low when it stays for 15 s below 70 % of the declared rate, or of the minute before, and one of these shows that the encoder
 * did not choose it: it held the higher rate as a constant bitrate, frames are missing, or a rate below the declared one is flat for 30 s.
 */
export class BitrateShortfall {
  /** Remembered while the rate is low, since the minute before is low too after a while. */
  #expected: (ExpectedRate & { readonly untilMs: number }) | undefined;

  /**
   * Compares the last seconds of a connected publisher. Call it once a second.
   *
   * @param nowMs monotonic
   * @returns undefined where too little is known
   */
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
    // The drop began within the window before those that are low.
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
  // A burst after a pause makes the mean of the minute higher than what the encoder is set to.
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
