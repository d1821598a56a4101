import type { RestreamBatch } from './restream-batch.ts';

/** Maximum pending media. All destinations of a broadcast share the buffers. */
const maxPendingMs = 3_000;
const maxPendingBytes = 4 * 1024 * 1024;

interface PendingBatch {
  readonly batch: RestreamBatch;
  /** Index of the first sample. */
  readonly from: number;
}

/** Media since the last keyframe, for a connection in the making: servers soon disconnect silent publishers. */
export class PendingMedia {
  #batches: PendingBatch[] = [];
  #bytes = 0;

  add(batch: RestreamBatch, from = 0): void {
    const { samples } = batch;
    const isStart = (index: number) => index >= from && samples[index]!.isStart;
    const keyframe = samples.findLastIndex(({ media }, index) => media.kind === 'video' && isStart(index));
    const start =
      keyframe === -1 && this.#batches.length === 0
        ? samples.findIndex((_, index) => isStart(index))
        : keyframe;
    if (start !== -1) this.take();
    else if (this.#batches.length === 0) return;
    this.#batches.push({ batch, from: start === -1 ? from : start });
    this.#bytes += batch.payloadBytes;
    if (newestMs(batch) - this.#oldestMs > maxPendingMs || this.#bytes > maxPendingBytes) this.take();
  }

  take(): readonly PendingBatch[] {
    const batches = this.#batches;
    this.#batches = [];
    this.#bytes = 0;
    return batches;
  }

  get #oldestMs(): number {
    const { batch, from } = this.#batches[0]!;
    return batch.samples[from]!.atMs;
  }
}

function newestMs({ samples }: RestreamBatch): number {
  return samples.at(-1)!.atMs;
}
