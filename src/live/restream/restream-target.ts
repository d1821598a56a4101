export interface RestreamTarget {
  readonly isTls: boolean;
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path of the URL, such as `live2` or `app?token=1`. */
  readonly app: string;
  /** Sent to the destination, without user and password. */
  readonly tcUrl: string;
}

const defaultPorts = { rtmp: 1935, rtmps: 443 } as const;

/** Longer ones are no RTMP server's. */
const maxAppBytes = 1_023;
const maxUrlBytes = 2_048;

/** Undefined without a host or app, or when too long. */
export function parseTarget(serverUrl: string): RestreamTarget | undefined {
  const found = /^(rtmps?):\/\/(?:[^/?#\s@]*@)?([^/?#\s@]+)\/+(\S*[^/\s])\/*$/i.exec(serverUrl);
  if (found === null) return undefined;
  const scheme = found[1]!.toLowerCase() as keyof typeof defaultPorts;
  const [authority, app] = [found[2]!, found[3]!];
  // URL drops port 80, so the port is read from the text.
  if (!URL.canParse(`http://${authority}/`)) return undefined;
  const { hostname } = new URL(`http://${authority}/`);
  const tcUrl = `${scheme}://${authority}/${app}`;
  if (Buffer.byteLength(app) > maxAppBytes || Buffer.byteLength(tcUrl) > maxUrlBytes) return undefined;
  const port = /:(\d+)$/.exec(authority)?.[1];
  return {
    isTls: scheme === 'rtmps',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === undefined ? defaultPorts[scheme] : Number(port),
    app,
    tcUrl,
  };
}
