import { type Stats, statSync } from 'node:fs';

/** Tells whether a path still leads to the file that was first seen there. */
export class FilePlace {
  readonly path: string;
  #first: Stats | undefined;
  #bytes = 0;

  constructor(path: string) {
    this.path = path;
    this.#first = this.#find();
  }

  /** Size when it was last looked at. */
  get bytes(): number {
    return this.#bytes;
  }

  isUnchanged(): boolean {
    const current = this.#find();
    this.#first ??= current;
    return current?.dev === this.#first?.dev && current?.ino === this.#first?.ino;
  }

  #find(): Stats | undefined {
    const found = statSync(this.path, { throwIfNoEntry: false });
    this.#bytes = found?.size ?? 0;
    return found;
  }
}
