import { statSync } from 'node:fs';

/** Tells whether a path still leads to the file that was there at first. */
export class FilePlace {
  readonly path: string;
  readonly #first: string | undefined;

  constructor(path: string) {
    this.path = path;
    this.#first = identityOf(path);
  }

  isUnchanged(): boolean {
    return identityOf(this.path) === this.#first;
  }
}

function identityOf(path: string): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  return file && `${file.dev} ${file.ino}`;
}
