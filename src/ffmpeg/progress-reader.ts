import type { RunProgress } from './media-tools.ts';

const progressLine =
  /^(frame|fps|stream_\d+_\d+_\w+|bitrate|total_size|out_time\w*|\w+_frames|speed|progress)=\s*(\S+)/;

/** `-progress` ends blocks with `progress=...`. `out_time_ms` is in microseconds in all versions. */
export class ProgressReader {
  readonly #onProgress: (progress: RunProgress) => void;
  #microseconds = 0;
  #block = '';
  #lastBlock = '';

  constructor(onProgress: (progress: RunProgress) => void) {
    this.#onProgress = onProgress;
  }

  /** False for a line that is not about progress. */
  takeLine(line: string): boolean {
    const [, name, value] = progressLine.exec(line) ?? [];
    if (name === undefined) return false;
    if (name === 'out_time_us' || name === 'out_time_ms') {
      const microseconds = Number(value);
      // N/A or far below zero before the first packet.
      if (microseconds > this.#microseconds) this.#microseconds = microseconds;
    }
    if (name === 'frame' || name === 'total_size') this.#block += `${line} `;
    if (name === 'progress') this.#endBlock();
    return true;
  }

  #endBlock(): void {
    const block = `${this.#block}${this.#microseconds}`;
    this.#block = '';
    if (block === this.#lastBlock) return;
    this.#lastBlock = block;
    this.#onProgress({ timeSeconds: this.#microseconds / 1_000_000 });
  }
}
