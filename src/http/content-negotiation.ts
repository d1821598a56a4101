/**
 * **Source**: RFC 9110, HTTP Semantics, 12.5.3
 *
 * Whether a client asked for gzip. `*` alone does not count, and a client that likes `identity` better gets that:
 * Chromium's own HLS player sends `identity;q=1, *;q=0` and breaks on gzip.
 */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  let gzip = 0;
  let identity = 0;
  for (const item of acceptEncoding.split(',')) {
    const [name = '', ...parameters] = item.split(';');
    const coding = name.trim().toLowerCase();
    if (coding === 'gzip' || coding === 'x-gzip') gzip = Math.max(gzip, weightOf(parameters));
    else if (coding === 'identity') identity = weightOf(parameters);
  }
  return gzip > 0 && gzip >= identity;
}

function weightOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const text = parameter.trim().toLowerCase();
    if (!text.startsWith('q=')) continue;
    const weight = Number(text.slice(2));
    return weight >= 0 && weight <= 1 ? weight : 0;
  }
  return 1;
}

/** Whether `If-None-Match` names `etag`. The comparison is the weak one (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const wanted = withoutWeakMark(etag);
  return ifNoneMatch.split(',').some(item => withoutWeakMark(item.trim()) === wanted);
}

function withoutWeakMark(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}
