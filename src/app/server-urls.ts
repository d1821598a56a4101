import type { HttpListener } from '../http/listener/http-listener.ts';
import type { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import type { IngestAddresses } from '../resources/accounts/account.routes.ts';

const defaultRtmpPort = 1935;

/** The addresses that the server hands out. Ports of 0 are known once the listeners run. */
export class ServerUrls {
  readonly #publicUrl: string | undefined;
  #http: Pick<HttpListener, 'httpPort' | 'httpsPort'> | undefined;
  #rtmp: Pick<RtmpServer, 'rtmpPort' | 'rtmpsPort'> | undefined;

  /** @param publicUrl the configured base of all addresses; that of the HTTP listener unless given */
  constructor(publicUrl: string | undefined) {
    this.#publicUrl = publicUrl;
  }

  connect(
    http: Pick<HttpListener, 'httpPort' | 'httpsPort'>,
    rtmp: Pick<RtmpServer, 'rtmpPort' | 'rtmpsPort'>,
  ): void {
    this.#http = http;
    this.#rtmp = rtmp;
  }

  /** Base of every HTTP address, without a slash at its end. */
  readonly publicUrl = (): string => {
    if (this.#publicUrl !== undefined) return this.#publicUrl;
    const httpsPort = this.#http?.httpsPort;
    return httpsPort === undefined
      ? `http://localhost:${this.#http?.httpPort}`
      : `https://localhost:${httpsPort}`;
  };

  /** Addresses that encoders publish to, without the stream key. */
  readonly ingest = (): IngestAddresses => {
    const { hostname } = new URL(this.publicUrl());
    const { rtmpPort, rtmpsPort } = this.#rtmp ?? {};
    return {
      rtmp: `rtmp://${hostname}${rtmpPort === defaultRtmpPort ? '' : `:${rtmpPort}`}/s`,
      rtmps: rtmpsPort === undefined ? undefined : `rtmps://${hostname}:${rtmpsPort}/s`,
    };
  };
}
