import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A site of its own, whose pages embed players. `await using` closes it. */
export class OtherSite {
  readonly #server: http.Server;
  /** Pages by path. */
  readonly #pages = new Map<string, string>();

  private constructor() {
    this.#server = http.createServer(({ url = '/' }, response) => {
      const page = this.#pages.get(url);
      if (page === undefined) response.writeHead(404).end();
      else response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page);
    });
  }

  static async start(): Promise<OtherSite> {
    const site = new OtherSite();
    await once(site.#server.listen(0, '127.0.0.1'), 'listening');
    return site;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds a page. @returns its address */
  addPage(html: string): string {
    const path = `/page${this.#pages.size + 1}.html`;
    this.#pages.set(path, `<!doctype html><html lang="en"><head><title>Other site</title>${html}`);
    return this.origin + path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }
}
