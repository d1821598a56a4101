/** `end` is exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the range that a GET request asks for. `whole` also when `If-Range` names another version.
 *
 * **Source**: RFC 9110 13.1.5 and 14.2
 */
export function requestedRange(
  headers: { readonly range?: string | undefined; readonly 'if-range'?: string | undefined },
  { etag, bytes }: { readonly etag: string; readonly bytes: number },
): ByteRange | 'whole' | 'unsatisfiable' {
  const ifRange = headers['if-range'];
  if (headers.range === undefined || bytes === 0) return 'whole';
  return ifRange === undefined || ifRange === etag ? parseByteRange(headers.range, bytes) : 'whole';
}

/** `whole` for headers to ignore, also several ranges. **Source**: RFC 9110 14.1.2 and 14.2 */
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
