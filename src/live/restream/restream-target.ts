import { readSrtOptions, type SrtOptions, srtOptionsProblem } from '../../shared/network/srt-options.ts';

export type RestreamTarget = RtmpTarget | SrtTarget;

export interface RtmpTarget {
  readonly protocol: 'rtmp';
  readonly isTls: boolean;
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path of the URL, such as `live2` or `app?token=1`. */
  readonly app: string;
  /** Sent to the destination, without user and password. */
  readonly tcUrl: string;
}

/** Target of an SRT restream. Without a stream ID, the stream key is sent. */
export interface SrtTarget extends SrtOptions {
  readonly protocol: 'srt';
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

const defaultPorts = { rtmp: 1935, rtmps: 443 } as const;

/** Longer ones are no RTMP server's. */
const maxAppBytes = 1_023;
const maxUrlBytes = 2_048;

/** Undefined without a host or app, or when too long. */
export function parseTarget(serverUrl: string): RestreamTarget | undefined {
  return /^srt:/i.test(serverUrl) ? parseSrtTarget(serverUrl) : parseRtmpTarget(serverUrl);
}

function parseSrtTarget(serverUrl: string): SrtTarget | undefined {
  if (Buffer.byteLength(serverUrl) > maxUrlBytes || !URL.canParse(serverUrl)) return undefined;
  const url = new URL(serverUrl);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port);
  if (host === '' || port === 0 || srtOptionsProblem(url, 'destination') !== undefined) return undefined;
  return { protocol: 'srt', host, port, ...readSrtOptions(url) };
}

function parseRtmpTarget(serverUrl: string): RtmpTarget | undefined {
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
    protocol: 'rtmp',
    isTls: scheme === 'rtmps',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === undefined ? defaultPorts[scheme] : Number(port),
    app,
    tcUrl,
  };
}
