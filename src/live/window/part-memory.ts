/**
 * The memory of a part's bytes, which the window frees as soon as nobody has them any more: left to the garbage collector, they
 * make it mark the whole heap every few seconds.
 */
export class PartMemory {
  readonly #body: Buffer;
  #holds = 0;
  #isShared = false;
  #isDropped = false;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Keeps the bytes until the returned function is called, once. Without that call, the garbage collector frees them. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.#freeUnused();
    };
  }

  /** Leaves the bytes to the garbage collector, because it is not known who has them, or for how long. */
  share(): void {
    this.#isShared = true;
  }

  /** The window has the bytes no more. */
  drop(): void {
    this.#isDropped = true;
    this.#freeUnused();
  }

  #freeUnused(): void {
    if (!this.#isDropped || this.#isShared || this.#holds > 0) return;
    const { buffer, length } = this.#body;
    // A view of something larger, such as Node's pool, is not its owner.
    if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
  }
}
