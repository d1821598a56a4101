import {
  formatMediaPlaylist,
  formatPlaylistHead,
  formatPlaylistTail,
  formatSegments,
} from '../../media/hls/format-media-playlist.ts';
import type { MediaPlaylist, MediaSegment } from '../../media/hls/media-playlist.ts';
import { type DeflatedBlock, deflateBlock, PrecompressedText } from '../../shared/text/precompressed-text.ts';
import { type CompressedText, RenderedText } from '../../shared/text/rendered-text.ts';

/** `end` is exclusive. */
type ReadSegments = (from: number, end: number) => MediaSegment[];

const segmentsPerBlock = 64;

/** Writes a long playlist as fast as a short one: old lines are compressed once, to about 15 bytes per segment. */
export class IncrementalPlaylist {
  readonly #readSegments: ReadSegments;
  #blocks: DeflatedBlock[] = [];
  /** A multiple of {@link segmentsPerBlock}. */
  #blocksFrom = 0;

  constructor(read: ReadSegments) {
    this.#readSegments = read;
  }

  get #blocksEnd(): number {
    return this.#blocksFrom + this.#blocks.length * segmentsPerBlock;
  }

  get heldBytes(): number {
    return this.#blocks.reduce((sum, { deflated }) => sum + deflated.length, 0);
  }

  compressSettled(first: number, settledEnd: number): void {
    while (this.#blocks.length > 0 && this.#blocksFrom <= first) {
      this.#blocks.shift();
      this.#blocksFrom += segmentsPerBlock;
    }
    // The first segment of the list needs an EXT-X-MAP, so it is in no block.
    const usable = (Math.floor(first / segmentsPerBlock) + 1) * segmentsPerBlock;
    if (this.#blocks.length === 0) this.#blocksFrom = usable;
    while (this.#blocksEnd + segmentsPerBlock <= settledEnd) {
      const from = this.#blocksEnd;
      this.#blocks.push(deflateBlock(this.#lines(from, from + segmentsPerBlock)));
    }
  }

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
