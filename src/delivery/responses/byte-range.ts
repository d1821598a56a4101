/** A part of a body: `start` is its first byte, `end` the byte after its last. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * **Source**: RFC 9110, HTTP Semantics, 14.1.2 and 14.2
 *
 * Reads a `Range` header for a body of `totalBytes` bytes (at least 1).
 *
 * @returns `whole` where the header is to be ignored: another unit, several ranges, or not well-formed;
 *   `unsatisfiable` where it asks for nothing that exists (416).
 */
export function parseByteRange(header: string, totalBytes: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header);
  if (match === null) return 'whole';
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return 'whole';
    const suffixBytes = Number(last);
    if (suffixBytes === 0) return 'unsatisfiable';
    return { start: Math.max(0, totalBytes - suffixBytes), end: totalBytes };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'whole';
  if (start >= totalBytes) return 'unsatisfiable';
  return { start, end: last === '' ? totalBytes : Math.min(totalBytes, Number(last) + 1) };
}
