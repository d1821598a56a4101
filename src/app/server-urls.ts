import type { HttpListener } from '../http/listener/http-listener.ts';
import type { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import type { SrtServer } from '../ingest/srt/srt-server.ts';
import type { Probe } from '../operations/checks/probe.ts';
import type { IngestAddresses } from '../resources/identity/accounts/account.routes.ts';
import type { WebRtcServer } from '../webrtc/webrtc-server.ts';

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
  readonly webRtcPort: number | undefined;
}

/** Ports of 0 are known once the listeners run. */
export class ServerUrls {
  readonly #publicUrl: string | undefined;
  readonly #hostname: string;
  readonly #ingestPorts: IngestPorts;
  readonly #webRtcPort: number | undefined;
  #http: Pick<HttpListener, 'httpPort' | 'httpsPort'> | undefined;
  #rtmp: Pick<RtmpServer, 'rtmpPort' | 'rtmpsPort'> | undefined;
  #srt: Pick<SrtServer, 'port'> | undefined;
  #webRtc: Pick<WebRtcServer, 'port'> | undefined;

  constructor({ publicUrl, hostname = 'localhost', ingestPorts, webRtcPort }: ServerUrlsOptions) {
    this.#publicUrl = publicUrl;
    this.#hostname = hostname;
    this.#ingestPorts = ingestPorts;
    this.#webRtcPort = webRtcPort;
  }

  connect(
    http: Pick<HttpListener, 'httpPort' | 'httpsPort'>,
    rtmp: Pick<RtmpServer, 'rtmpPort' | 'rtmpsPort'> | undefined,
    srt: Pick<SrtServer, 'port'> | undefined,
    webRtc: Pick<WebRtcServer, 'port'> | undefined,
  ): void {
    this.#http = http;
    this.#rtmp = rtmp;
    this.#srt = srt;
    this.#webRtc = webRtc;
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
    const { rtmp, rtmps, srt, webrtc } = this.ports();
    return {
      rtmp: `rtmp://${hostname}${rtmp === defaultRtmpPort ? '' : `:${rtmp}`}/s`,
      rtmps: rtmps === null ? undefined : `rtmps://${hostname}:${rtmps}/s`,
      srt: srt === null ? undefined : `srt://${hostname}:${srt}`,
      whip: webrtc === null ? undefined : `${this.publicUrl()}/whip`,
    };
  };

  /** Ports for encoders. */
  readonly ports = (): Probe['ports'] => {
    const { rtmpPort: rtmp = this.#ingestPorts.rtmp, rtmpsPort: rtmps = null } = this.#rtmp ?? {};
    const srt = (this.#rtmp === undefined ? this.#ingestPorts.srt : this.#srt?.port) ?? null;
    return { rtmp, rtmps, srt, webrtc: this.#webRtc?.port ?? this.#webRtcPort ?? null };
  };
}
