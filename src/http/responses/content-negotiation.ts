/**
 * `*` alone does not count, nor does gzip with less weight than `identity`: Chromium's own HLS player sends
 * `identity;q=1, *;q=0` and breaks on gzip.
 *
 * **Source**: RFC 9110 12.5.3
 */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return acceptsCoding(acceptEncoding, ['gzip', 'x-gzip']);
}

export function acceptsBrotli(acceptEncoding: string | undefined): boolean {
  return acceptsCoding(acceptEncoding, ['br']);
}

function acceptsCoding(acceptEncoding: string | undefined, names: readonly string[]): boolean {
  if (acceptEncoding === undefined) return false;
  let wanted = 0;
  let identity = 0;
  for (const item of acceptEncoding.split(',')) {
    const [name = '', ...parameters] = item.split(';');
    const coding = name.trim().toLowerCase();
    if (names.includes(coding)) wanted = Math.max(wanted, qualityOf(parameters));
    else if (coding === 'identity') identity = qualityOf(parameters);
  }
  return wanted > 0 && wanted >= identity;
}

type ErrorFormat = 'json' | 'html' | 'text';

/** Prefers HTML for `text/html`, JSON for JSON or a wildcard, otherwise plain text (RFC 9110 12.5.1). */
export function negotiateErrorFormat(accept: string | undefined): ErrorFormat {
  if (accept === undefined) return 'json';
  const weights = new Map<string, number>();
  for (const item of accept.split(',')) {
    const [range = '', ...parameters] = item.split(';');
    weights.set(range.trim().toLowerCase(), qualityOf(parameters));
  }
  const html = weights.get('text/html') ?? 0;
  const json = weights.get('application/json');
  if (html > 0 && html >= (json ?? 0)) return 'html';
  return (json ?? weights.get('application/*') ?? weights.get('*/*') ?? 0) > 0 ? 'json' : 'text';
}

/** Sorts the items of a header such as `Accept-Language` by weight, and leaves out those of weight 0. */
export function weightedItems(header: string): string[] {
  return header
    .split(',')
    .map(item => {
      const [name = '', ...parameters] = item.split(';');
      return { name: name.trim(), weight: qualityOf(parameters) };
    })
    .filter(({ name, weight }) => name !== '' && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ name }) => name);
}

function qualityOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const text = parameter.trim().toLowerCase();
    if (!text.startsWith('q=')) continue;
    const weight = Number(text.slice(2));
    return weight >= 0 && weight <= 1 ? weight : 0;
  }
  return 1;
}

/** Compares weakly (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const wanted = stripWeakPrefix(etag);
  return ifNoneMatch.split(',').some(item => stripWeakPrefix(item.trim()) === wanted);
}

function stripWeakPrefix(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}
