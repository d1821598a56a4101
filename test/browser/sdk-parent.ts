import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { waitUntil } from '../support/wait-until.ts';
import { until, WatchedPage } from './browser-fixture.ts';

/** A page of another origin with the player in a frame, that hears messages and can send them. */
const parentPage = `<!doctype html><title>Parent</title><body><script>
  window.heard = [];
  addEventListener('message', event => heard.push({ origin: event.origin, ...event.data }));
  const iframe = document.createElement('iframe');
  iframe.src = decodeURIComponent(location.search.slice(1));
  iframe.width = 640;
  iframe.height = 360;
  iframe.allow = 'autoplay; fullscreen';
  document.body.append(iframe);
  window.send = message => iframe.contentWindow.postMessage(message, '*');
</script>`;

/** A message of the player, and where it came from. */
export interface Heard {
  readonly origin: string;
  readonly type?: string;
  readonly callbackId?: string;
  readonly arg?: unknown;
  readonly sdkPlayerId?: string;
  readonly [name: string]: unknown;
}

/** The site around a player in a frame. */
export class SdkParent {
  readonly origin: string;
  readonly #server: http.Server;
  #asked = 0;

  private constructor(server: http.Server) {
    this.#server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<SdkParent> {
    const server = http.createServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(parentPage);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return new SdkParent(server);
  }

  /** A page with the player at this address in its frame. */
  open(browser: Browser, address: string): Promise<WatchedPage> {
    // Players choose no quality that is larger than their frame, in device pixels.
    const options = { deviceScaleFactor: 1 };
    return WatchedPage.open(browser, `${this.origin}/?${encodeURIComponent(address)}`, options);
  }

  /** Query that an SDK adds to the address of a player. */
  sdkAddress(origin = this.origin): string {
    return `?id=viOfTest#api;sdkOrigin:${btoa(origin)};sdkPlayerId:7;`;
  }

  heard(page: Page): Promise<Heard[]> {
    return page.evaluate<Heard[]>('window.heard');
  }

  untilHeard(page: Page, type: string): Promise<boolean> {
    return until(type, async () => (await this.heard(page)).some(message => message.type === type));
  }

  /** Sends a message, and gives what it is answered with. */
  async ask(page: Page, message: string, values: Record<string, unknown> = {}): Promise<unknown> {
    this.#asked += 1;
    const callbackId = `call${this.#asked}`;
    await page.evaluate(`window.send(${JSON.stringify({ message, sdkPlayerId: 7, callbackId, ...values })})`);
    const answer = await waitUntil(
      async () => (await this.heard(page)).find(candidate => candidate.callbackId === callbackId),
      { what: `an answer to ${message}` },
    );
    return answer.arg;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
