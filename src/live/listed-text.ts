import {
  formatBeginning,
  formatEnding,
  formatMediaPlaylist,
  formatSegments,
  type MediaPlaylist,
  type MediaSegment,
} from '../hls/media-playlist.ts';
import { type AnswerText, JoinedText, makeTextBlock, type TextBlock } from '../shared/joined-text.ts';
import { RenderedText } from '../shared/rendered-text.ts';

/** Reads segments out of what is listed: those from `from` on, and before `end`. */
export type ReadSegments = (from: number, end: number) => MediaSegment[];

/** Lines of so many segments are compressed together. */
const blockSegments = 64;

/**
 * Writes a list of any length in about the time of a short one: the lines of old segments, which do not change any more, are written and
 * compressed once, about 15 bytes a segment.
 */
export class ListedText {
  readonly #read: ReadSegments;
  #blocks: TextBlock[] = [];
  /** Number of the first segment of the first block, a multiple of {@link blockSegments}. */
  #blocksFrom = 0;

  constructor(read: ReadSegments) {
    this.#read = read;
  }

  get #blocksEnd(): number {
    return this.#blocksFrom + this.#blocks.length * blockSegments;
  }

  /** Bytes of memory that it takes. */
  get heldBytes(): number {
    return this.#blocks.reduce((sum, { deflated }) => sum + deflated.length, 0);
  }

  /** The list begins with `first`; nothing that is said of segments before `settledEnd` changes any more. */
  settle(first: number, settledEnd: number): void {
    while (this.#blocks.length > 0 && this.#blocksFrom <= first) {
      this.#blocks.shift();
      this.#blocksFrom += blockSegments;
    }
    // The first segment of the list is in no block: its map has to be said, which depends on what stands before it.
    const usable = (Math.floor(first / blockSegments) + 1) * blockSegments;
    if (this.#blocks.length === 0) this.#blocksFrom = usable;
    while (this.#blocksEnd + blockSegments <= settledEnd) {
      const from = this.#blocksEnd;
      this.#blocks.push(makeTextBlock(this.#lines(from, from + blockSegments)));
    }
  }

  /** The whole list of the segments from `first` on, and before `end`. `rest`: all that is said beside them. */
  whole(rest: Omit<MediaPlaylist, 'segments'>, first: number, end: number): AnswerText {
    if (this.#blocks.length === 0) {
      return new RenderedText(formatMediaPlaylist({ ...rest, segments: this.#read(first, end) }));
    }
    const beginning = formatBeginning({ ...rest, segments: this.#read(first, this.#blocksFrom) });
    const blocksEnd = this.#blocksEnd;
    const ending = this.#lines(blocksEnd, end) + formatEnding(rest, this.#mapOf(end - 1));
    return new JoinedText(beginning, this.#blocks, ending);
  }

  #lines(from: number, end: number): string {
    return formatSegments(this.#read(from, end), this.#mapOf(from - 1));
  }

  #mapOf(sequence: number): string | undefined {
    return this.#read(sequence, sequence + 1)[0]?.map?.uri;
  }
}
