import { statSync } from 'node:fs';

/** Tells whether a path still leads to the file that was first seen there. */
export class FilePlace {
  readonly path: string;
  #first: string | undefined;

  constructor(path: string) {
    this.path = path;
    this.#first = identityOf(path);
  }

  isUnchanged(): boolean {
    const current = identityOf(this.path);
    this.#first ??= current;
    return current === this.#first;
  }
}

function identityOf(path: string): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  return file && `${file.dev} ${file.ino}`;
}
