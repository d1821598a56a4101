import { fileError } from '../../../http/bodies/file-body.ts';
import type { FileAdmission } from '../../../http/routing/route.ts';
import {
  type ContentRange,
  checkChunkSize,
  maxChunkBytes,
  maxSourceBytes,
  rangeBytes,
  sourceTooLarge,
} from './content-range.ts';
import type { Reservation } from './upload-quotas.ts';
import type { VideoSource } from './video-sources.store.ts';

/** Checks the headers of a chunk, before its body arrives. */
export function checkAnnouncedBytes(
  source: VideoSource | undefined,
  range: ContentRange,
  contentLength: number | undefined,
): void {
  const total = range.total ?? source?.total;
  const length = rangeBytes(range);
  if (length !== undefined) checkChunkSize(range, total, length);
  if (contentLength === undefined) return;
  // The multipart body is longer than its file.
  if (length === undefined) checkChunkSize(range, total, Math.min(contentLength, maxChunkBytes));
  else if (contentLength < length) checkChunkSize(range, total, contentLength);
}

/** Bytes that the upload announces beyond those received. */
export function remainingBytes(range: ContentRange | undefined, receivedBytes: number): number {
  if (range?.unit !== 'bytes' || range.total === undefined) return 0;
  return Math.max(0, range.total - receivedBytes);
}

/** Limits of the body. Ends the reservation when it fails. */
export async function limitsOf(
  range: ContentRange | undefined,
  reservation: Reservation,
): Promise<FileAdmission> {
  const admission = admissionOf(range);
  const { maxBytes } = reservation;
  if (maxBytes === undefined || maxBytes >= admission.maxBytes) return admission;
  try {
    return { ...admission, maxBytes, tooLargeError: await reservation.limitError() };
  } catch (error) {
    await reservation.end();
    throw error;
  }
}

function admissionOf(range: ContentRange | undefined): FileAdmission {
  if (range === undefined) return { maxBytes: maxSourceBytes, tooLargeError: sourceTooLarge() };
  const length = rangeBytes(range);
  if (length === undefined) return { maxBytes: maxChunkBytes, needsDigest: true };
  return {
    maxBytes: length,
    needsDigest: true,
    tooLargeError: fileError('video-content-range-by-bytes-range-mismatch'),
  };
}
