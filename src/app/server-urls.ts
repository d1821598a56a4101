import type { HttpListener } from '../http/listener/http-listener.ts';
import type { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import type { IngestAddresses } from '../resources/accounts/account.routes.ts';

const defaultRtmpPort = 1935;

/** Ports of 0 are known once the listeners run. */
export class ServerUrls {
  readonly #publicUrl: string | undefined;
  readonly #ingestPort: number;
  #http: Pick<HttpListener, 'httpPort' | 'httpsPort'> | undefined;
  #rtmp: Pick<RtmpServer, 'rtmpPort' | 'rtmpsPort'> | undefined;

  /** @param ingestPort RTMP port of the servers that take publishers, if this one takes none */
  constructor(publicUrl: string | undefined, ingestPort: number) {
    this.#publicUrl = publicUrl;
    this.#ingestPort = ingestPort;
  }

  connect(
    http: Pick<HttpListener, 'httpPort' | 'httpsPort'>,
    rtmp: Pick<RtmpServer, 'rtmpPort' | 'rtmpsPort'> | undefined,
  ): void {
    this.#http = http;
    this.#rtmp = rtmp;
  }

  readonly publicUrl = (): string => {
    if (this.#publicUrl !== undefined) return this.#publicUrl;
    const httpsPort = this.#http?.httpsPort;
    return httpsPort === undefined
      ? `http://localhost:${this.#http?.httpPort}`
      : `https://localhost:${httpsPort}`;
  };

  readonly ingest = (): IngestAddresses => {
    const { hostname } = new URL(this.publicUrl());
    const { rtmpPort = this.#ingestPort, rtmpsPort } = this.#rtmp ?? {};
    return {
      rtmp: `rtmp://${hostname}${rtmpPort === defaultRtmpPort ? '' : `:${rtmpPort}`}/s`,
      rtmps: rtmpsPort === undefined ? undefined : `rtmps://${hostname}:${rtmpsPort}/s`,
    };
  };
}
