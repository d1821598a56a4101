const protocols = ['rtsp:', 'rtsps:', 'rtmp:', 'rtmps:', 'http:', 'https:', 'srt:'];
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
  const url = parseSourceUrl(text);
  if (url === undefined) {
    return 'The source must be an address that begins with rtsp://, rtsps://, rtmp://, rtmps://, http://, https:// or srt://.';
  }
  if (sourcePort(url) === undefined)
    return 'The address of an SRT source needs a port, as in srt://host:9000.';
  if (url.protocol.startsWith('rtmp') && !/^\/[^/]+\/[^/]/.test(url.pathname)) {
    return 'The address of an RTMP source needs an app and a stream key, as in rtmp://host/app/key.';
  }
  return undefined;
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

/** For logs: without user, password, path and query, which may be secrets. */
export function redactSourceUrl(text: string): string {
  const url = parseSourceUrl(text);
  return url === undefined ? '[source]' : `${url.protocol}//${url.host}/…`;
}
