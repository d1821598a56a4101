interface Interleaved {
  readonly dtsMs: number;
  readonly bytes: number;
}

/** Streams of a transport stream are hundreds of milliseconds apart: audio waits until a PES packet is full. */
const maxSpanMs = 700;
const jumpMs = 3_000;
const maxBytes = 16 * 1024 * 1024;
const maxItems = 2_048;

/**
 * Puts the items of several streams in the order of their times. A stream that stays behind is waited for as long as the
 * items span {@link maxSpanMs}, and not again until it continues.
 */
export class SampleInterleaver<Item extends Interleaved> {
  readonly #emit: (item: Item) => void;
  readonly #queues = new Map<number, Item[]>();
  #items = 0;
  #bytes = 0;
  #newestMs: number | undefined;

  constructor(emit: (item: Item) => void) {
    this.#emit = emit;
  }

  /** Streams that others wait for. */
  expect(streams: readonly number[]): void {
    this.flush();
    this.#queues.clear();
    for (const stream of streams) this.#queues.set(stream, []);
  }

  push(stream: number, item: Item): void {
    if (this.#newestMs !== undefined && Math.abs(item.dtsMs - this.#newestMs) > jumpMs) {
      this.flush();
      this.#newestMs = undefined;
    }
    this.#newestMs = Math.max(this.#newestMs ?? item.dtsMs, item.dtsMs);
    const queue = this.#queues.get(stream);
    if (queue === undefined) this.#queues.set(stream, [item]);
    else queue.push(item);
    this.#items += 1;
    this.#bytes += item.bytes;
    this.#release();
  }

  flush(): void {
    while (this.#items > 0) this.#emitOldest();
  }

  #release(): void {
    while (this.#items > 0) {
      if ([...this.#queues.values()].some(({ length }) => length === 0)) {
        if (!this.#isFull()) return;
        for (const [stream, { length }] of this.#queues) if (length === 0) this.#queues.delete(stream);
      }
      this.#emitOldest();
    }
  }

  #isFull(): boolean {
    const oldestMs = this.#oldest()?.[0]?.dtsMs ?? 0;
    return (
      this.#items > maxItems || this.#bytes > maxBytes || (this.#newestMs ?? oldestMs) - oldestMs > maxSpanMs
    );
  }

  #oldest(): Item[] | undefined {
    let oldest: Item[] | undefined;
    for (const queue of this.#queues.values()) {
      const [head] = queue;
      if (head !== undefined && (oldest === undefined || head.dtsMs < oldest[0]!.dtsMs)) oldest = queue;
    }
    return oldest;
  }

  #emitOldest(): void {
    const item = this.#oldest()?.shift();
    if (item === undefined) return;
    this.#items -= 1;
    this.#bytes -= item.bytes;
    this.#emit(item);
  }
}
