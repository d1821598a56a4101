import type Hls from 'hls.js/dist/hls.light.min.mjs';
import { qualityLabel } from '../media/qualities.ts';

interface LiveQuality {
  readonly label: string;
  readonly width: number;
  readonly height: number;
  readonly bitsPerSecond: number;
}

/** Qualities of a broadcast, and the one that the viewer chose. */
export class LiveQualities {
  readonly #hls: () => Hls | undefined;
  #chosen: string | undefined;

  constructor(hls: () => Hls | undefined) {
    this.#hls = hls;
  }

  /** Labels such as `720p`, best first; empty for audio only and native playback. */
  get labels(): string[] {
    return this.options.map(({ label }) => label);
  }

  /** One for each label, best first. */
  get options(): LiveQuality[] {
    const options = (this.#hls()?.levels ?? [])
      .filter(({ height }) => height > 0)
      .toSorted((one, other) => other.height - one.height)
      .map(level => ({
        label: qualityLabel(level),
        width: level.width,
        height: level.height,
        bitsPerSecond: level.bitrate,
      }));
    // Each label is a level once per audio codec.
    return options.filter(({ label }, at) => options.findIndex(other => other.label === label) === at);
  }

  get current(): string | undefined {
    const hls = this.#hls();
    const level = hls?.levels[hls.currentLevel];
    return level && qualityLabel(level);
  }

  get chosen(): string | undefined {
    return this.#levelOf(this.#chosen) === undefined ? undefined : this.#chosen;
  }

  /** Plays the buffered second or two first. */
  choose(label: string | undefined): void {
    this.#chosen = label;
    this.#apply();
  }

  /** Applies an earlier choice to another playlist. */
  restore(): void {
    if (this.#chosen !== undefined) this.#apply();
  }

  #apply(): void {
    const hls = this.#hls();
    if (hls !== undefined) hls.loadLevel = this.#levelOf(this.#chosen) ?? -1;
  }

  #levelOf(label: string | undefined): number | undefined {
    const { levels = [], currentLevel = -1 } = this.#hls() ?? {};
    const { codecSet } = levels[currentLevel] ?? {};
    const hasLabel = (each: (typeof levels)[number]) => qualityLabel(each) === label;
    const same = levels.findIndex(each => hasLabel(each) && each.codecSet === codecSet);
    const level = same === -1 ? levels.findIndex(hasLabel) : same;
    return level < 0 ? undefined : level;
  }
}
