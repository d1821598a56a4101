/** Buffer that remains on a good network when the next part arrives. */
const baseMarginSeconds = 0.2;
/** Extra margin until the network is known: it shrinks within ten seconds, unless playback stalls. */
const firstExtraMarginSeconds = 0.2;
const firstDecayPerSecond = 0.02;
const maxExtraMarginSeconds = 1.5;
/** A stall adds its duration, within these bounds. */
const minPenaltySeconds = 0.25;
const maxPenaltySeconds = 0.75;
/** Time without a stall after which the extra margin shrinks. */
const calmMs = 60_000;
const minDecayPerSecond = 0.002;
const decaySharePerSecond = 0.01;
/** One late part within this time keeps the distance to the live edge. */
const memorySeconds = 20;
const minMemorySeconds = 1;
/** Longest time that playback waits for the margin at the start and after a stall. */
const maxHoldMs = 1500;
/** Pitch is preserved: these rates are inaudible. The first that applies counts, from `excessSeconds` on. */
const catchUpRates = [
  { excessSeconds: 1, rate: 1.1 },
  { excessSeconds: 0.3, rate: 1.06 },
  { excessSeconds: 0.08, rate: 1.03 },
] as const;
const stopCatchUpSeconds = 0.02;
const slowRate = 0.97;

/**
 * Chooses the playback rate that keeps a margin of buffer at the moments when it is lowest: just before a part
 * arrives. The end of the buffer minus the wall-clock time does not depend on the playhead, so its minimum over some
 * seconds measures all jitter of publisher, server and network. Times are in seconds, instants in milliseconds.
 */
export class LatencyControl {
  /** Further margin for delays that happen now and then. */
  reserveSeconds = 0;
  /** Lowest `end - now` of each second, oldest first. */
  #lows: { readonly second: number; low: number }[] = [];
  #end: number | undefined;
  #extraSeconds = firstExtraMarginSeconds;
  #lastStallMs = Number.NEGATIVE_INFINITY;
  #lastTickMs: number | undefined;
  #heldSinceMs: number | undefined;
  /** Set until the next media arrives. */
  #stalledSinceMs: number | undefined;
  #rate = 1;

  get marginSeconds(): number {
    return baseMarginSeconds + this.reserveSeconds + this.#extraSeconds;
  }

  /** @param end of the buffer around the playhead */
  buffered(nowMs: number, end: number): void {
    if (this.#stalledSinceMs !== undefined && end > (this.#end ?? Number.NEGATIVE_INFINITY)) {
      this.#penalize((nowMs - this.#stalledSinceMs) / 1000);
    }
    // A lower end is that of another buffer.
    if (this.#end !== undefined && end >= this.#end) this.#addLow(nowMs, this.#end);
    this.#end = end;
  }

  /** The buffer ran empty. Steps back from the live edge. */
  stalled(nowMs: number): void {
    const end = this.#end;
    this.restart();
    this.#end = end;
    this.#lastStallMs = nowMs;
    this.#stalledSinceMs = nowMs;
    this.#heldSinceMs = nowMs;
  }

  /** Called when the first frame is shown. Playback begins with a margin. */
  started(nowMs: number): void {
    this.restart();
    this.#heldSinceMs = nowMs;
  }

  #penalize(seconds: number): void {
    const penalty = Math.min(maxPenaltySeconds, Math.max(minPenaltySeconds, seconds));
    this.#extraSeconds = Math.min(maxExtraMarginSeconds, this.#extraSeconds + penalty);
    this.#stalledSinceMs = undefined;
  }

  /** Forgets the buffer: the playhead jumped. */
  restart(): void {
    this.#lows = [];
    this.#end = undefined;
    this.#heldSinceMs = undefined;
    this.#stalledSinceMs = undefined;
    this.#rate = 1;
  }

  /** @returns 0 while playback waits for the margin */
  rateAt(nowMs: number, position: number): number {
    this.#decay(nowMs);
    if (this.#end === undefined) return this.#isHeld(nowMs, 0) ? 0 : 1;
    if (this.#isHeld(nowMs, this.#end - position)) return 0;
    this.#addLow(nowMs, this.#end);
    const first = this.#lows[0];
    if (first === undefined || nowMs / 1000 - first.second < minMemorySeconds) return 1;
    const low = Math.min(...this.#lows.map(each => each.low));
    const slack = low + nowMs / 1000 - position;
    this.#rate = this.#rateFor(slack);
    return this.#rate;
  }

  #rateFor(slack: number): number {
    const excess = slack - this.marginSeconds;
    const isSlow = slack < this.marginSeconds * (this.#rate < 1 ? 0.8 : 0.4);
    if (isSlow) return slowRate;
    const faster = catchUpRates.find(({ excessSeconds }) => excess >= excessSeconds)?.rate;
    if (faster !== undefined) return faster;
    return this.#rate > 1 && excess > stopCatchUpSeconds ? Math.min(this.#rate, 1.03) : 1;
  }

  #isHeld(nowMs: number, ahead: number): boolean {
    if (this.#heldSinceMs === undefined) return false;
    if (ahead >= this.marginSeconds || nowMs - this.#heldSinceMs >= maxHoldMs) this.#heldSinceMs = undefined;
    return this.#heldSinceMs !== undefined;
  }

  #decay(nowMs: number): void {
    const seconds = Math.max(0, nowMs - (this.#lastTickMs ?? nowMs)) / 1000;
    this.#lastTickMs = nowMs;
    if (nowMs - this.#lastStallMs < calmMs) return;
    const hasStalled = this.#lastStallMs !== Number.NEGATIVE_INFINITY;
    const slowDecay = minDecayPerSecond + this.#extraSeconds * decaySharePerSecond;
    const perSecond = hasStalled ? slowDecay : firstDecayPerSecond;
    this.#extraSeconds = Math.max(0, this.#extraSeconds - seconds * perSecond);
  }

  #addLow(nowMs: number, end: number): void {
    const second = Math.floor(nowMs / 1000);
    const low = end - nowMs / 1000;
    const last = this.#lows.at(-1);
    if (last?.second === second) last.low = Math.min(last.low, low);
    else this.#lows.push({ second, low });
    this.#lows = this.#lows.filter(each => each.second > second - memorySeconds);
  }
}
