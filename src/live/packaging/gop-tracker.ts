/** GOPs in a row that are as long as the one before, until the next keyframe is expected in time. */
const minConstantGops = 4;

/** Measures GOPs, and expects keyframes after GOPs of a constant length. Times are in seconds. */
export class GopTracker {
  #lastKeyframeAt: number | undefined;
  #longest = 0;
  #newest = 0;
  #framesInNewest = 0;
  #constantCount = 0;
  /** Frames of a GOP as the encoder declares it, until the first one is complete. */
  #declaredFrames: number | undefined;
  #hasMissedKeyframe = false;

  get lastKeyframeAt(): number | undefined {
    return this.#lastKeyframeAt;
  }

  get longest(): number {
    return this.#longest;
  }

  /** The first keyframe. @param declaredFrames frames of a GOP as the encoder declares it */
  begin(at: number, declaredFrames: number | undefined): void {
    this.#declaredFrames = declaredFrames;
    this.#startGop(at);
  }

  /** Another keyframe. @param frame duration of a frame @returns the length of the GOP before it */
  next(at: number, frame: number): number {
    const gop = at - (this.#lastKeyframeAt ?? at);
    if (this.#framesInNewest === this.#declaredFrames) this.#constantCount = minConstantGops;
    else this.#constantCount = this.#isLikeNewest(gop, frame) ? this.#constantCount + 1 : 0;
    this.#declaredFrames = undefined;
    this.#newest = gop;
    this.#longest = Math.max(this.#longest, gop);
    this.#startGop(at);
    return gop;
  }

  addFrame(): void {
    this.#framesInNewest += 1;
  }

  /** An expected keyframe did not come, as where keyframes are sent on request. */
  missKeyframe(): void {
    this.#hasMissedKeyframe = true;
  }

  /** @param at end of the newest frame @param frame its duration */
  isKeyframeDue(at: number, frame: number): boolean {
    if (this.#hasMissedKeyframe) return false;
    if (this.#framesInNewest === this.#declaredFrames) return true;
    return (
      this.#constantCount >= minConstantGops && this.#isLikeNewest(at - (this.#lastKeyframeAt ?? 0), frame)
    );
  }

  #startGop(at: number): void {
    this.#lastKeyframeAt = at;
    this.#framesInNewest = 0;
  }

  #isLikeNewest(gop: number, frame: number): boolean {
    return Math.abs(gop - this.#newest) <= frame / 4;
  }
}
