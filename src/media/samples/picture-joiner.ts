import { AccessUnitGrouper } from '../codecs/access-unit-grouper.ts';
import { readVideoConfig } from '../codecs/frame-sizes.ts';
import { avcParameterSets, splitLengths } from '../codecs/nal-units.ts';
import { describeVideoTag, type FlvTag, videoHeaderBytes } from '../flv/flv-tag.ts';

type NalCodec = 'avc1' | 'hvc1';

/**
 * `start` has the first slice of a picture, `continuation` only further ones. `prefix` has no slice and belongs to the next
 * picture, `suffix` to the one before. Others are not read.
 */
type Content = 'start' | 'continuation' | 'prefix' | 'suffix' | 'unknown';

interface Piece {
  readonly tag: FlvTag;
  readonly content: Content;
  readonly isKeyframe: boolean;
}

const FRAME_TYPE_KEY = 1;
const codecs: Readonly<Record<string, NalCodec>> = { 'H.264': 'avc1', HEVC: 'hvc1' };
/** Before the first slice: delimiters, parameter sets, SEI. */
const maxUnitsBeforeSlice = 64;
/** Levels limit a picture to 600 slices. */
const maxPieces = 1024;
const maxJoinedBytes = 16 * 1024 * 1024;
/** Encoders send the slices of a picture together, so that audio this much later means that all are there. */
const maxAudioLeadMs = 200;

/**
 * Joins pictures that an encoder sends as several tags, one per slice, or with their parameter sets apart. The first
 * picture waits for the next one, which shows if the encoder does so. Later pictures only wait if it does.
 */
export class PictureJoiner {
  readonly #emit: (tag: FlvTag) => void;
  #codec: NalCodec | undefined;
  #lengthBytes = 4;
  #grouper: AccessUnitGrouper | undefined;
  #pieces: Piece[] = [];
  #pieceBytes = 0;
  /** The tag of the latest picture; undefined before the first one. */
  #passedOn: FlvTag | undefined;
  #isSliced: boolean | undefined;

  constructor(emit: (tag: FlvTag) => void) {
    this.#emit = emit;
  }

  push(tag: FlvTag): void {
    if (tag.kind !== 'video') {
      const [first] = this.#pieces;
      if (tag.kind === 'audio' && first !== undefined && msAfter(first.tag, tag) > maxAudioLeadMs)
        this.flush();
      this.#emit(tag);
      return;
    }
    const described = describeVideoTag(tag.body);
    if (described?.role !== 'keyframe' && described?.role !== 'frame') {
      this.flush();
      if (described?.role === 'config') this.#configure(codecs[described.codec.name], tag.body);
      this.#emit(tag);
      return;
    }
    this.#take({ tag, content: this.#read(tag.body), isKeyframe: described.role === 'keyframe' });
  }

  /** Passes on what waits. */
  flush(): void {
    const pieces = this.#pieces;
    if (pieces.length === 0) return;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#passedOn = pieces.length === 1 ? pieces[0]!.tag : joinPieces(pieces);
    this.#emit(this.#passedOn);
  }

  #configure(codec: NalCodec | undefined, body: Buffer): void {
    this.#codec = codec;
    if (codec === undefined) return;
    const record = body.subarray(videoHeaderBytes(body));
    this.#lengthBytes = readVideoConfig(codec, record).lengthBytes;
    this.#grouper = new AccessUnitGrouper(codec);
    // The grouper tells the fields of a picture by its parameter sets.
    if (codec === 'avc1') this.#grouper.group(avcParameterSets(record)?.units ?? []);
  }

  #take(piece: Piece): void {
    const { tag, content } = piece;
    const isFurther = content === 'continuation' || content === 'suffix';
    if (content === 'unknown') {
      this.flush();
      this.#emit(tag);
    } else if (this.#pieces.length > 0 && this.#continues(piece)) {
      if (this.#pieces.some(hasSlice)) this.#isSliced = true;
      if (this.#pieces.length < maxPieces && this.#pieceBytes + tag.body.length <= maxJoinedBytes)
        this.#hold(piece);
    } else if (this.#pieces.length === 0 && isFurther && this.#isOfPassedOn(tag)) {
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
    this.#pieceBytes += piece.tag.body.length;
  }

  #isOfPassedOn(tag: FlvTag): boolean {
    return this.#passedOn !== undefined && msAfter(this.#passedOn, tag) === 0;
  }

  /** The piece belongs to the picture that waits. */
  #continues(piece: Piece): boolean {
    const slice = this.#pieces.find(hasSlice);
    if (slice === undefined) return true;
    const { tag, content } = piece;
    if (content === 'suffix') return true;
    if (content === 'prefix' || msAfter(slice.tag, tag) !== 0) return false;
    if (content === 'continuation') return true;
    const units = [...this.#pieces, piece].flatMap(({ tag: { body } }) => this.#units(body));
    return (this.#grouper?.group(units).length ?? 2) === 1;
  }

  #units(body: Buffer): Buffer[] {
    return splitLengths(body.subarray(videoHeaderBytes(body)), this.#lengthBytes);
  }

  #read(body: Buffer): Content {
    const codec = this.#codec;
    if (codec === undefined) return 'unknown';
    const lengthBytes = this.#lengthBytes;
    let found: Content = 'unknown';
    let at = videoHeaderBytes(body);
    for (let count = 0; count < maxUnitsBeforeSlice && at + lengthBytes < body.length; count++) {
      const start = at + lengthBytes;
      at = start + body.readUIntBE(at, lengthBytes);
      if (at > body.length || at === start) return 'unknown';
      const content = contentOf(codec, body, start);
      if (content === 'start' || content === 'continuation') return content;
      if (found !== 'prefix') found = content;
    }
    return found;
  }
}

/** ITU-T H.264 (08/2021), table 7-1; ITU-T H.265 (08/2021), table 7-1. */
function contentOf(codec: NalCodec, body: Buffer, at: number): Content {
  if (codec === 'avc1') {
    const type = body[at]! & 0x1f;
    if (type === 3 || type === 4) return 'continuation';
    // first_mb_in_slice is 0.
    if (type >= 1 && type <= 5) return ((body[at + 1] ?? 0) & 0x80) !== 0 ? 'start' : 'continuation';
    return type >= 10 && type <= 12 ? 'suffix' : 'prefix';
  }
  const type = (body[at]! >> 1) & 0x3f;
  // first_slice_segment_in_pic_flag.
  if (type <= 31) return ((body[at + 2] ?? 0) & 0x80) !== 0 ? 'start' : 'continuation';
  return (type >= 36 && type <= 38) || type === 40 ? 'suffix' : 'prefix';
}

function hasSlice({ content }: Piece): boolean {
  return content === 'start' || content === 'continuation';
}

/** The header is that of the first slice. Encoders may mark only the parameter sets as a keyframe. */
function joinPieces(pieces: readonly Piece[]): FlvTag {
  const { tag } = pieces.find(hasSlice) ?? pieces[0]!;
  const header = Buffer.from(tag.body.subarray(0, videoHeaderBytes(tag.body)));
  if (pieces.some(({ isKeyframe }) => isKeyframe)) header[0] = (header[0]! & 0x8f) | (FRAME_TYPE_KEY << 4);
  const payloads = pieces.map(({ tag: { body } }) => body.subarray(videoHeaderBytes(body)));
  return { ...tag, body: Buffer.concat([header, ...payloads]) };
}

/** Timestamps wrap. */
function msAfter(earlier: FlvTag, later: FlvTag): number {
  return (later.timestampMs - earlier.timestampMs) | 0;
}
