import {
  formatMediaPlaylist,
  formatPlaylistHead,
  formatPlaylistTail,
  formatSegments,
} from '../../media/hls/format-media-playlist.ts';
import type { MediaPlaylist, MediaSegment } from '../../media/hls/media-playlist.ts';
import {
  type CompressedText,
  type DeflatedBlock,
  deflateBlock,
  PrecompressedText,
} from '../../shared/text/precompressed-text.ts';
import { RenderedText } from '../../shared/text/rendered-text.ts';

/** Reads segments out of what is listed: those from `from` on, and before `end`. */
export type ReadSegments = (from: number, end: number) => MediaSegment[];

/** Lines of so many segments are compressed together. */
const segmentsPerBlock = 64;

/**
 * Writes a list of any length in about the time of a short one: the lines of old segments, which do not change any more, are written and
 * compressed once, about 15 bytes a segment.
 */
export class IncrementalPlaylist {
  readonly #readSegments: ReadSegments;
  #blocks: DeflatedBlock[] = [];
  /** Number of the first segment of the first block, a multiple of {@link segmentsPerBlock}. */
  #blocksFrom = 0;

  constructor(read: ReadSegments) {
    this.#readSegments = read;
  }

  get #blocksEnd(): number {
    return this.#blocksFrom + this.#blocks.length * segmentsPerBlock;
  }

  /** Bytes of memory that it takes. */
  get heldBytes(): number {
    return this.#blocks.reduce((sum, { deflated }) => sum + deflated.length, 0);
  }

  /** The list begins with `first`; nothing that is said of segments before `settledEnd` changes any more. */
  compressSettled(first: number, settledEnd: number): void {
    while (this.#blocks.length > 0 && this.#blocksFrom <= first) {
      this.#blocks.shift();
      this.#blocksFrom += segmentsPerBlock;
    }
    // The first segment of the list is in no block: its map has to be said, which depends on what stands before it.
    const usable = (Math.floor(first / segmentsPerBlock) + 1) * segmentsPerBlock;
    if (this.#blocks.length === 0) this.#blocksFrom = usable;
    while (this.#blocksEnd + segmentsPerBlock <= settledEnd) {
      const from = this.#blocksEnd;
      this.#blocks.push(deflateBlock(this.#lines(from, from + segmentsPerBlock)));
    }
  }

  /** The whole list of the segments from `first` on, and before `end`. `rest`: all that is said beside them. */
  render(rest: Omit<MediaPlaylist, 'segments'>, first: number, end: number): CompressedText {
    if (this.#blocks.length === 0) {
      return new RenderedText(formatMediaPlaylist({ ...rest, segments: this.#readSegments(first, end) }));
    }
    const beginning = formatPlaylistHead({ ...rest, segments: this.#readSegments(first, this.#blocksFrom) });
    const blocksEnd = this.#blocksEnd;
    const ending = this.#lines(blocksEnd, end) + formatPlaylistTail(rest, this.#mapOf(end - 1));
    return new PrecompressedText(beginning, this.#blocks, ending);
  }

  #lines(from: number, end: number): string {
    return formatSegments(this.#readSegments(from, end), this.#mapOf(from - 1));
  }

  #mapOf(sequence: number): string | undefined {
    return this.#readSegments(sequence, sequence + 1)[0]?.map?.uri;
  }
}
