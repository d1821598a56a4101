import type { ReadAt } from './progressive-file.ts';

/** Maximum boxes per file; films have a few dozen on the path to their sample entries. */
const MAX_BOXES = 2048;

interface Range {
  readonly start: number;
  readonly end: number;
}

/** `start` is the first byte of its body. */
export interface FoundBox extends Range {
  readonly type: string;
}

/** Finds boxes by their headers, without reading what is in them. */
export class HeaderWalk {
  readonly readAt: ReadAt;
  #left = MAX_BOXES;

  constructor(readAt: ReadAt) {
    this.readAt = readAt;
  }

  /** Stops at an incomplete box. */
  async boxes(start: number, end: number): Promise<FoundBox[]> {
    const found: FoundBox[] = [];
    for (let at = start; end - at >= 8 && this.#left > 0; this.#left -= 1) {
      const header = await this.readAt(at, 8);
      if (header.length < 8) break;
      const size = header.readUInt32BE(0);
      if (size < 8 || size > end - at) break;
      found.push({ type: header.toString('latin1', 4, 8), start: at + 8, end: at + size });
      at += size;
    }
    return found;
  }

  /** Finds the boxes at the end of a path of types. */
  async find(parent: Range, ...path: readonly string[]): Promise<FoundBox[]> {
    const [type, ...rest] = path;
    const children = (await this.boxes(parent.start, parent.end)).filter(box => box.type === type);
    if (rest.length === 0) return children;
    const found = [];
    for (const child of children) found.push(...(await this.find(child, ...rest)));
    return found;
  }
}
