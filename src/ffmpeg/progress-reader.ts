import type { RunProgress } from './media-tools.ts';

const longestLine = 1_000;

/**
 * Reads what ffmpeg writes for `-progress`: lines of `name=value`, a block of them ending with `progress=...`. `out_time_ms` is in
 * microseconds too, in all versions.
 */
export class ProgressReader {
  readonly #onProgress: (progress: RunProgress) => void;
  #partialLine = '';
  #microseconds = 0;
  #block = '';
  #lastBlock = '';

  /** @param onProgress called for each block that differs from the one before */
  constructor(onProgress: (progress: RunProgress) => void) {
    this.#onProgress = onProgress;
  }

  /** Takes the next piece of text. */
  push(text: string): void {
    const lines = (this.#partialLine + text).split(/\r?\n/);
    this.#partialLine = (lines.pop() ?? '').slice(-longestLine);
    for (const line of lines) this.#readLine(line);
  }

  #readLine(line: string): void {
    const [name, value = ''] = line.split('=', 2).map(part => part.trim());
    if (name === 'out_time_us' || name === 'out_time_ms') {
      const microseconds = Number(value);
      // Before the first packet it is `N/A`, or far below zero.
      if (microseconds > this.#microseconds) this.#microseconds = microseconds;
    }
    if (name === 'frame' || name === 'total_size') this.#block += `${line} `;
    if (name !== 'progress') return;
    const block = `${this.#block}${this.#microseconds}`;
    this.#block = '';
    if (block === this.#lastBlock) return;
    this.#lastBlock = block;
    this.#onProgress({ timeSeconds: this.#microseconds / 1_000_000 });
  }
}
