import { fileError } from '../../../http/bodies/file-body.ts';
import type { AppError, ErrorCode } from '../../../shared/errors.ts';

export const maxSourceBytes = 9_999_999_999;
export const maxChunkBytes = 209_715_200;
/** Every chunk but the last must have this many. */
const minChunkBytes = 5_242_880;
const maxParts = 10_000;
const maxTotalBytes = 52_428_800_000;

/** Bytes `first` to `last`, inclusive, from 0; or one part, from 1, as both. */
export interface ContentRange {
  readonly unit: 'bytes' | 'parts';
  readonly first: number;
  readonly last: number;
  /** Undefined where the header says `*`. */
  readonly total: number | undefined;
}

export interface RangedUpload {
  readonly unit: 'bytes' | 'parts';
  readonly total: number | undefined;
  readonly isComplete: boolean;
  readonly highest: number;
  readonly overlapping: { readonly first: number; readonly last: number } | undefined;
}

const pattern = /^(?:bytes (?<from>\d+)-(?<to>\d+)|part (?<part>\d+))\/(?<total>\d+|\*)$/;

/** Parses a `Content-Range` header, plain or percent-encoded. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  if (header === undefined) return undefined;
  const groups = pattern.exec(decoded(header.trim()))?.groups;
  if (groups === undefined) throw rangeError('malformed');
  const { from, to, part } = groups;
  const total = groups.total === '*' ? undefined : Number(groups.total);
  return part === undefined ? byteRange(Number(from), Number(to), total) : partRange(Number(part), total);
}

export function rangeBytes(range: ContentRange): number | undefined {
  return range.unit === 'bytes' ? range.last - range.first + 1 : undefined;
}

export function isWholeFile({ unit, first, last, total }: ContentRange): boolean {
  return total !== undefined && (unit === 'bytes' ? first === 0 && last === total - 1 : total === 1);
}

export function isFirstChunk({ unit, first }: ContentRange): boolean {
  return first === (unit === 'bytes' ? 0 : 1);
}

/**
 * Validates a chunk against the earlier ones. The first chunk of a complete video is a second upload, which
 * is refused; other chunks can be repeated, because their response may have been lost.
 * @param hasBegunBefore the request began before the upload was complete, so it is no second upload
 * @returns `repeat` when the chunk is stored: it may be sent again with the same bytes
 */
export function checkRange(
  range: ContentRange,
  upload: RangedUpload | undefined,
  hasBegunBefore = false,
): 'new' | 'repeat' {
  if (upload === undefined) return 'new';
  if (range.unit !== upload.unit) {
    throw rangeError(upload.unit === 'parts' ? 'started-with-part' : 'started-with-bytes');
  }
  const { overlapping } = upload;
  const isRepeat = overlapping?.first === range.first && overlapping.last === range.last;
  const isAnotherUpload = !isRepeat || (isFirstChunk(range) && !hasBegunBefore);
  if (upload.isComplete && isAnotherUpload) throw fileError('video-source-already-uploaded');
  checkTotal(range, upload);
  if (isRepeat) return 'repeat';
  if (overlapping !== undefined) throw chunkAlreadySent(range);
  return 'new';
}

export function checkChunkSize(range: ContentRange, total: number | undefined, bytes: number): void {
  const length = rangeBytes(range);
  if (length !== undefined && length !== bytes) throw rangeError('by-bytes-range-mismatch');
  if (bytes > maxChunkBytes) throw fileError('uploaded-file-too-large');
  const isLast = total !== undefined && range.last === (range.unit === 'bytes' ? total - 1 : total);
  if (isLast || bytes >= minChunkBytes) return;
  throw rangeError(
    range.unit === 'bytes' ? 'by-bytes-range-too-small' : 'by-part-uploaded-file-too-small',
    `Every chunk except the last must have at least ${minChunkBytes} bytes.`,
  );
}

export function chunkAlreadySent(range: ContentRange): AppError {
  return rangeError(range.unit === 'bytes' ? 'by-bytes-range-overlap' : 'by-part-part-already-sent');
}

function byteRange(first: number, last: number, total: number | undefined): ContentRange {
  if (total === 0) throw rangeError('by-bytes-total-bytes-zero');
  if (first > last) throw rangeError('by-bytes-from-byte-too-high');
  if (total !== undefined && total > maxTotalBytes) {
    throw rangeError('by-bytes-total-bytes-too-high', `${total} is more than ${maxTotalBytes}.`);
  }
  if (last >= maxTotalBytes) {
    throw rangeError('by-bytes-to-byte-too-high-allowed', `${last} is more than ${maxTotalBytes - 1}.`);
  }
  if (total !== undefined && last >= total) throw rangeError('by-bytes-to-byte-too-high-total');
  if (Math.max(total ?? 0, last + 1) > maxSourceBytes) throw sourceTooLarge();
  const length = last - first + 1;
  if (length > maxChunkBytes) {
    throw rangeError('by-bytes-range-too-large', `${length} bytes are more than ${maxChunkBytes}.`);
  }
  return { unit: 'bytes', first, last, total };
}

function partRange(part: number, total: number | undefined): ContentRange {
  if (part === 0) throw rangeError('by-part-part-zero');
  if (total === 0) throw rangeError('by-part-total-parts-zero');
  if (part > maxParts) throw rangeError('by-part-part-too-high-allowed', `${part} is more than ${maxParts}.`);
  if (total !== undefined && total > maxParts) {
    throw rangeError('by-part-total-parts-too-high', `${total} is more than ${maxParts}.`);
  }
  if (total !== undefined && part > total) throw rangeError('by-part-part-too-high-total');
  return { unit: 'parts', first: part, last: part, total };
}

function checkTotal(range: ContentRange, upload: RangedUpload): void {
  const isBytes = range.unit === 'bytes';
  if (range.total === undefined) {
    if (upload.total === undefined || range.last <= (isBytes ? upload.total - 1 : upload.total)) return;
    throw rangeError(isBytes ? 'by-bytes-to-byte-too-high-total' : 'by-part-part-too-high-total');
  }
  if (upload.total === undefined) {
    if (range.total > upload.highest) return;
    throw rangeError(isBytes ? 'by-bytes-total-bytes-too-low' : 'by-part-total-parts-too-low');
  }
  if (range.total !== upload.total) {
    throw rangeError(isBytes ? 'by-bytes-different-total-bytes' : 'by-part-different-total-parts');
  }
}

export function sourceTooLarge(): AppError {
  return fileError('uploaded-file-too-large', `A video must be smaller than ${maxSourceBytes + 1} bytes.`);
}

type RangeErrorName = ErrorCode extends infer Code
  ? Code extends `video-content-range-${infer Name}`
    ? Name
    : never
  : never;

function rangeError(name: RangeErrorName, detail?: string): AppError {
  return fileError(`video-content-range-${name}`, detail);
}

/** One of the public samples sends `part%201%2F3`. */
function decoded(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    throw rangeError('malformed');
  }
}
