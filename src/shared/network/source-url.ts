import { srtOptionsProblem } from './srt-options.ts';

const protocols = ['rtsp:', 'rtsps:', 'rtmp:', 'rtmps:', 'http:', 'https:', 'srt:'];
const schemes = new RegExp(`^(?:${protocols.join('|')})//`, 'i');
const defaultPorts: Readonly<Record<string, number>> = {
  'rtsp:': 554,
  'rtsps:': 322,
  'rtmp:': 1935,
  'rtmps:': 443,
  'http:': 80,
  'https:': 443,
};

/** Says what is wrong with the address of a source, or returns undefined. Never contains parts of the address. */
export function sourceUrlProblem(text: string): string | undefined {
  if (!schemes.test(text)) {
    return 'The source must be an address that begins with rtsp://, rtsps://, rtmp://, rtmps://, http://, https:// or srt://.';
  }
  const url = parseSourceUrl(text);
  if (url === undefined) {
    return 'The address of the source is not valid. It needs a host, and special characters must be percent-encoded, such as %20 for a space and %23 for #.';
  }
  if (!isPercentEncoded(url.username) || !isPercentEncoded(url.password)) {
    return 'A "%" in the user name or password of the source must be written as "%25".';
  }
  if (url.protocol.startsWith('rtmp') && !/^\/+[^/]/.test(url.pathname)) {
    return 'The address of an RTMP source needs a path, as in rtmp://host/app/key or rtmp://host/name.';
  }
  if (url.protocol !== 'srt:') return undefined;
  if (!sourcePort(url)) return 'The address of an SRT source needs a port, as in srt://host:9000.';
  return srtOptionsProblem(url, 'source');
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Undefined for what is no address of a source. */
export function parseSourceUrl(text: string): URL | undefined {
  if (/[\s\p{Cc}]/u.test(text)) return undefined;
  const [, scheme = '', rest = ''] = /^([a-z]+:)(\/\/[^/].*)$/i.exec(text) ?? [];
  const protocol = scheme.toLowerCase();
  const url = protocols.includes(protocol) ? URL.parse(`${protocol}${rest}`) : null;
  return url === null || url.hostname === '' ? undefined : url;
}

/** Undefined when the address names none and its protocol has none. */
export function sourcePort(url: URL): number | undefined {
  return url.port === '' ? defaultPorts[url.protocol] : Number(url.port);
}

/** Redacts a URL for logs: without user, password, path and query, which may be secrets. */
export function redactSourceUrl(text: string): string {
  const url = parseSourceUrl(text);
  return url === undefined ? '[source]' : `${url.protocol}//${url.host}/…`;
}
