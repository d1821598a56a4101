/** Where a destination is, out of its `serverUrl`. */
export interface RestreamTarget {
  readonly isTls: boolean;
  /** A name or an address; of IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** What stands behind the host, such as `live2` or `app?token=1`. */
  readonly app: string;
  /** The address as the destination is told of it, without a user and a password. */
  readonly tcUrl: string;
}

const defaultPorts = { rtmp: 1935, rtmps: 443 } as const;

/** What ffmpeg has room for, in bytes. */
const mostAppBytes = 1_023;
const mostUrlBytes = 2_048;

/** Takes an address of the API apart; undefined when it has no host or no app, or is longer than can be sent. */
export function parseTarget(serverUrl: string): RestreamTarget | undefined {
  const found = /^(rtmps?):\/\/(?:[^/?#\s@]*@)?([^/?#\s@]+)\/+(\S*[^/\s])\/*$/i.exec(serverUrl);
  if (found === null) return undefined;
  const scheme = found[1]!.toLowerCase() as keyof typeof defaultPorts;
  const [authority, app] = [found[2]!, found[3]!];
  // The parser of web addresses leaves port 80 out, so the port is read by hand.
  if (!URL.canParse(`http://${authority}/`)) return undefined;
  const { hostname } = new URL(`http://${authority}/`);
  const tcUrl = `${scheme}://${authority}/${app}`;
  if (Buffer.byteLength(app) > mostAppBytes || Buffer.byteLength(tcUrl) > mostUrlBytes) return undefined;
  const port = /:(\d+)$/.exec(authority)?.[1];
  return {
    isTls: scheme === 'rtmps',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === undefined ? defaultPorts[scheme] : Number(port),
    app,
    tcUrl,
  };
}
