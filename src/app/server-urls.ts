import type { HttpListener } from '../http/listener/http-listener.ts';
import type { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import type { SrtServer } from '../ingest/srt/srt-server.ts';
import type { IngestAddresses } from '../resources/identity/accounts/account.routes.ts';

const defaultRtmpPort = 1935;

interface IngestPorts {
  readonly rtmp: number;
  /** Undefined when SRT is off. */
  readonly srt: number | undefined;
}

interface ServerUrlsOptions {
  readonly publicUrl: string | undefined;
  /** Used without a public URL; default: `localhost`. */
  readonly hostname?: string | undefined;
  /** Ports of the servers that accept publishers, if this one accepts none. */
  readonly ingestPorts: IngestPorts;
  readonly hasWebRtc: boolean;
}

/** Ports of 0 are known once the listeners run. */
export class ServerUrls {
  readonly #publicUrl: string | undefined;
  readonly #hostname: string;
  readonly #ingestPorts: IngestPorts;
  readonly #hasWebRtc: boolean;
  #http: Pick<HttpListener, 'httpPort' | 'httpsPort'> | undefined;
  #rtmp: Pick<RtmpServer, 'rtmpPort' | 'rtmpsPort'> | undefined;
  #srt: Pick<SrtServer, 'port'> | undefined;

  constructor({ publicUrl, hostname = 'localhost', ingestPorts, hasWebRtc }: ServerUrlsOptions) {
    this.#publicUrl = publicUrl;
    this.#hostname = hostname;
    this.#ingestPorts = ingestPorts;
    this.#hasWebRtc = hasWebRtc;
  }

  connect(
    http: Pick<HttpListener, 'httpPort' | 'httpsPort'>,
    rtmp: Pick<RtmpServer, 'rtmpPort' | 'rtmpsPort'> | undefined,
    srt: Pick<SrtServer, 'port'> | undefined,
  ): void {
    this.#http = http;
    this.#rtmp = rtmp;
    this.#srt = srt;
  }

  readonly publicUrl = (): string => {
    if (this.#publicUrl !== undefined) return this.#publicUrl;
    const httpsPort = this.#http?.httpsPort;
    return httpsPort === undefined
      ? `http://${this.#hostname}:${this.#http?.httpPort}`
      : `https://${this.#hostname}${httpsPort === 443 ? '' : `:${httpsPort}`}`;
  };

  readonly ingest = (): IngestAddresses => {
    const { hostname } = new URL(this.publicUrl());
    const { rtmpPort = this.#ingestPorts.rtmp, rtmpsPort } = this.#rtmp ?? {};
    const srtPort = this.#rtmp === undefined ? this.#ingestPorts.srt : this.#srt?.port;
    return {
      rtmp: `rtmp://${hostname}${rtmpPort === defaultRtmpPort ? '' : `:${rtmpPort}`}/s`,
      rtmps: rtmpsPort === undefined ? undefined : `rtmps://${hostname}:${rtmpsPort}/s`,
      srt: srtPort === undefined ? undefined : `srt://${hostname}:${srtPort}`,
      whip: this.#hasWebRtc ? `${this.publicUrl()}/whip` : undefined,
    };
  };
}
