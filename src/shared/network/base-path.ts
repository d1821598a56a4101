/** Parts that this server's own paths start with, other than ids of live streams. */
const ownFirstParts: ReadonlySet<string> = new Set([
  ...[
    'account',
    'assets',
    'auth',
    'channel',
    'clips',
    'dashboard',
    'data',
    'discarded',
    'docs',
    'events',
    'health',
  ],
  ...[
    'hooks',
    'invitations',
    'live',
    'live-streams',
    'llms.txt',
    'metrics',
    'openapi.json',
    'player',
    'player.js',
    'players',
  ],
  ...['private', 'server', 'summaries', 'tags', 'upload', 'upload-tokens', 'usage', 'videos', 'vod', 'watch'],
  ...['watermarks', 'webhooks', 'whep', 'whip'],
]);
/** Paths of this server below them look like others below a base path of that name. */
const ambiguousFirstParts: ReadonlySet<string> = new Set([
  ...['account', 'dashboard', 'data', 'discarded', 'docs', 'health'],
]);
/** Scripts find the base path by what follows it in their address. */
const ambiguousLastParts: ReadonlySet<string> = new Set(['dashboard', 'docs']);

const streamMedia = /^\/li[0-9A-Za-z]{22}(?:\.m3u8|\/thumbnail\.jpg|(?:\/[^/?]+){3})(?:\?|$)/;
/** Needs no escaping in HTML, cookies and scripts. */
const plainPath = /^(?:\/[\w.~-]+)+$/;

/** The path below which a reverse proxy offers this server, `''` without one. @param publicUrl `''` where it is unknown */
export function basePathOf(publicUrl: string | undefined): string {
  const path = URL.parse(publicUrl ?? '')?.pathname ?? '';
  return path.replace(/\/+$/, '');
}

/** The reason why a path cannot be a base path; undefined if it can. */
export function basePathProblem(basePath: string): string | undefined {
  if (basePath === '') return undefined;
  if (!plainPath.test(basePath)) {
    return `the path ${basePath} may only have letters, digits, "-", "_", "." and "~" between slashes`;
  }
  const parts = basePath.slice(1).split('/');
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  const advice = 'where this server has addresses of its own; choose another one, such as /media';
  if (ambiguousFirstParts.has(first)) return `the path cannot start with /${first}, ${advice}`;
  if (ambiguousLastParts.has(last)) return `the path cannot end with /${last}, ${advice}`;
  return undefined;
}

/**
 * Proxies may remove the base path, or pass it on. A base path such as `/live`, with which paths of this server start,
 * is removed where what follows starts like another path of this server.
 * @param url path and query of a request
 */
export function withoutBasePath(url: string, basePath: string): string {
  const length = basePath === '' ? undefined : lengthWithin(url, basePath);
  if (length === undefined) return url;
  const rest = url.slice(length);
  const isBelow = rest.startsWith('/');
  if (!isBelow && rest !== '' && !rest.startsWith('?')) return url;
  const [first = ''] = basePath.slice(1).split('/', 1);
  if (!ownFirstParts.has(first)) return isBelow ? rest : `/${rest}`;
  return isBelow && startsLikeOwn(rest) ? rest : url;
}

/** Characters of a URL that are its base path, any of which a client may have encoded. RFC 3986, 6.2.2.2. */
function lengthWithin(url: string, basePath: string): number | undefined {
  if (url.startsWith(basePath)) return basePath.length;
  let at = 0;
  for (const character of basePath) {
    const code = `%${character.charCodeAt(0).toString(16)}`;
    if (url[at] === character) at += 1;
    else if (character !== '/' && url.slice(at, at + 3).toLowerCase() === code) at += 3;
    else return undefined;
  }
  return at;
}

function startsLikeOwn(url: string): boolean {
  const [first = ''] = url.slice(1).split(/[/?]/, 1);
  return first === '' || ownFirstParts.has(first) || streamMedia.test(url);
}
