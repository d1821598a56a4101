import type { ViewerSignal } from '../../shared/viewer-responses.ts';

/** An `AbortController` for one listener at a time. */
export class ViewerAbort implements ViewerSignal {
  #onAbort: (() => void) | undefined;
  aborted = false;

  abort(): void {
    this.aborted = true;
    this.#onAbort?.();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#onAbort = listener;
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (this.#onAbort === listener) this.#onAbort = undefined;
  }
}
