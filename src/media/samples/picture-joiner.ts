import { AccessUnitGrouper } from '../codecs/access-unit-grouper.ts';
import { readVideoConfig } from '../codecs/frame-sizes.ts';
import { avcParameterSets, splitLengths } from '../codecs/nal-units.ts';
import { type CodecConfig, type MediaEvent, type MediaSample, timestampMs } from './media-sample.ts';

type NalCodec = 'avc1' | 'hvc1';

/**
 * `start` has the first slice of a picture, `continuation` only further ones. `prefix` has no slice and belongs to the next
 * picture, `suffix` to the one before. Others are not read.
 */
type Content = 'start' | 'continuation' | 'prefix' | 'suffix' | 'unknown';

interface Piece {
  readonly sample: MediaSample;
  readonly content: Content;
}

/** Maximum units before the first slice: delimiters, parameter sets, SEI. */
const maxUnitsBeforeSlice = 64;
/** Levels limit a picture to 600 slices. */
const maxPieces = 1024;
const maxJoinedBytes = 16 * 1024 * 1024;
/** Encoders send the slices of a picture together, so that audio this much later means that all are there. */
const maxAudioLeadMs = 200;

/**
 * Joins pictures that an encoder sends as several samples, one per slice, or with their parameter sets apart. The first
 * picture waits for the next one, which shows if the encoder does so. Later pictures only wait if it does.
 */
export class PictureJoiner {
  readonly #emit: (event: MediaEvent) => void;
  #codec: NalCodec | undefined;
  #lengthBytes = 4;
  #grouper: AccessUnitGrouper | undefined;
  #pieces: Piece[] = [];
  #pieceBytes = 0;
  /** The latest picture; undefined before the first one. */
  #passedOn: MediaSample | undefined;
  #isSliced: boolean | undefined;

  constructor(emit: (event: MediaEvent) => void) {
    this.#emit = emit;
  }

  push(event: MediaEvent): void {
    if (event.type !== 'sample' || event.kind === 'audio') {
      const [first] = this.#pieces;
      if (event.type === 'config' && event.kind === 'video') this.#configure(event);
      else if (
        event.type === 'sample' &&
        first !== undefined &&
        msAfter(first.sample, event) > maxAudioLeadMs
      )
        this.flush();
      this.#emit(event);
      return;
    }
    this.#take({ sample: event, content: this.#read(event.data) });
  }

  /** Passes on what waits. */
  flush(): void {
    const pieces = this.#pieces;
    if (pieces.length === 0) return;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#passedOn = pieces.length === 1 ? pieces[0]!.sample : joinPieces(pieces);
    this.#emit(this.#passedOn);
  }

  #configure({ codec: { fourCc }, data: record }: CodecConfig): void {
    this.flush();
    this.#codec = fourCc === 'avc1' || fourCc === 'hvc1' ? fourCc : undefined;
    if (this.#codec === undefined) return;
    this.#lengthBytes = readVideoConfig(this.#codec, record).lengthBytes;
    this.#grouper = new AccessUnitGrouper(this.#codec);
    // The grouper tells the fields of a picture by its parameter sets.
    if (this.#codec === 'avc1') this.#grouper.group(avcParameterSets(record)?.units ?? []);
  }

  #take(piece: Piece): void {
    const { sample, content } = piece;
    const isFurther = content === 'continuation' || content === 'suffix';
    if (content === 'unknown') {
      this.flush();
      this.#emit(sample);
    } else if (this.#pieces.length > 0 && this.#continues(piece)) {
      if (this.#pieces.some(hasSlice)) this.#isSliced = true;
      if (this.#pieces.length < maxPieces && this.#pieceBytes + sample.data.length <= maxJoinedBytes)
        this.#hold(piece);
      else this.flush();
    } else if (this.#pieces.length === 0 && isFurther && this.#isOfPassedOn(sample)) {
      // Comes too late for its picture.
      if (content === 'continuation') this.#isSliced = true;
    } else {
      this.flush();
      if (this.#passedOn !== undefined) this.#isSliced ??= false;
      this.#hold(piece);
    }
    if (this.#isSliced === false && this.#pieces.some(hasSlice)) this.flush();
  }

  #hold(piece: Piece): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.sample.data.length;
  }

  #isOfPassedOn(sample: MediaSample): boolean {
    return this.#passedOn !== undefined && msAfter(this.#passedOn, sample) === 0;
  }

  /** The piece belongs to the picture that waits. */
  #continues(piece: Piece): boolean {
    const slice = this.#pieces.find(hasSlice);
    if (slice === undefined) return true;
    const { sample, content } = piece;
    if (content === 'suffix') return true;
    if (content === 'prefix' || msAfter(slice.sample, sample) !== 0) return false;
    if (content === 'continuation') return true;
    const starts = this.#pieces.filter(each => each.content === 'start');
    // A frame has two fields at most.
    if (starts.length > 1) return false;
    const prefixes = this.#pieces.filter(each => each.content === 'prefix');
    const units = [...prefixes, ...starts, piece].flatMap(({ sample: { data } }) =>
      splitLengths(data, this.#lengthBytes, maxUnitsBeforeSlice),
    );
    return (this.#grouper?.group(units).length ?? 2) === 1;
  }

  #read(data: Buffer): Content {
    const codec = this.#codec;
    if (codec === undefined) return 'unknown';
    const lengthBytes = this.#lengthBytes;
    let found: Content = 'unknown';
    let at = 0;
    for (let count = 0; count < maxUnitsBeforeSlice && at + lengthBytes < data.length; count++) {
      const start = at + lengthBytes;
      at = start + data.readUIntBE(at, lengthBytes);
      if (at > data.length || at === start) return 'unknown';
      const content = contentOf(codec, data, start);
      if (content === 'start' || content === 'continuation') return content;
      if (found !== 'prefix') found = content;
    }
    return found;
  }
}

/** ITU-T H.264 (08/2021), table 7-1; ITU-T H.265 (08/2021), table 7-1. */
function contentOf(codec: NalCodec, data: Buffer, at: number): Content {
  if (codec === 'avc1') {
    const type = data[at]! & 0x1f;
    if (type === 3 || type === 4) return 'continuation';
    // first_mb_in_slice is 0.
    if (type >= 1 && type <= 5) return ((data[at + 1] ?? 0) & 0x80) !== 0 ? 'start' : 'continuation';
    return type >= 10 && type <= 12 ? 'suffix' : 'prefix';
  }
  const type = (data[at]! >> 1) & 0x3f;
  // first_slice_segment_in_pic_flag.
  if (type <= 31) return ((data[at + 2] ?? 0) & 0x80) !== 0 ? 'start' : 'continuation';
  return (type >= 36 && type <= 38) || type === 40 ? 'suffix' : 'prefix';
}

function hasSlice({ content }: Piece): boolean {
  return content === 'start' || content === 'continuation';
}

/** Times are those of the first slice. Encoders may mark only the parameter sets as a keyframe. */
function joinPieces(pieces: readonly Piece[]): MediaSample {
  const { sample } = pieces.find(hasSlice) ?? pieces[0]!;
  const isKeyframe = pieces.some(piece => piece.sample.isKeyframe);
  const data = Buffer.concat(pieces.map(piece => piece.sample.data));
  return { ...sample, isKeyframe, data, tagBody: undefined };
}

/** Timestamps wrap. */
function msAfter(earlier: MediaSample, later: MediaSample): number {
  return (timestampMs(later) - timestampMs(earlier)) | 0;
}
