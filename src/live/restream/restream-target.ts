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

export interface SrtTarget {
  readonly protocol: 'srt';
  /** Name or address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Undefined: the stream key. */
  readonly streamId: string | undefined;
  readonly latencyMs: number;
  readonly encryption: { readonly passphrase: string; readonly keyBytes: 16 | 24 | 32 } | undefined;
}

const defaultPorts = { rtmp: 1935, rtmps: 443 } as const;

/** Longer ones are no RTMP server's. */
const maxAppBytes = 1_023;
const maxUrlBytes = 2_048;

/** Undefined without a host or app, or when too long. */
export function parseTarget(serverUrl: string): RestreamTarget | undefined {
  return /^srt:/i.test(serverUrl) ? parseSrtTarget(serverUrl) : parseRtmpTarget(serverUrl);
}

const defaultLatencyMs = 500;
const maxLatencyMs = 10_000;
const maxStreamIdBytes = 512;

function parseSrtTarget(serverUrl: string): SrtTarget | undefined {
  if (Buffer.byteLength(serverUrl) > maxUrlBytes || !URL.canParse(serverUrl)) return undefined;
  const { hostname, port, searchParams } = new URL(serverUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const streamId = searchParams.get('streamid') ?? undefined;
  const latencyMs = Number(searchParams.get('latency') ?? defaultLatencyMs);
  const passphrase = searchParams.get('passphrase');
  const isTooLong = streamId !== undefined && Buffer.byteLength(streamId) > maxStreamIdBytes;
  if (host === '' || Number(port) === 0 || isTooLong || !(latencyMs >= 0 && latencyMs <= maxLatencyMs)) {
    return undefined;
  }
  const keyBytes =
    ([16, 24, 32] as const).find(bytes => String(bytes) === searchParams.get('pbkeylen')) ?? 16;
  return {
    protocol: 'srt',
    ...{ host, port: Number(port), streamId, latencyMs: Math.round(latencyMs) },
    encryption: passphrase === null ? undefined : { passphrase, keyBytes },
  };
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
