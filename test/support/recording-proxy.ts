import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a client made through a {@link RecordingProxy}. */
export interface ProxiedRequest {
  readonly path: string;
  readonly status: number;
}

/** Passes requests on to a server, and notes them for each client by the first segment of the path: `/~vlc/…`. Without it, the client is `''`. */
export class RecordingProxy {
  readonly baseUrl: string;
  readonly #server: http.Server;
  readonly #requests: Map<string, ProxiedRequest[]>;

  private constructor(server: http.Server, requests: Map<string, ProxiedRequest[]>) {
    this.#server = server;
    this.#requests = requests;
    this.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(targetUrl: string): Promise<RecordingProxy> {
    const requests = new Map<string, ProxiedRequest[]>();
    const server = http.createServer((request, response) => {
      const [, client = '', path = request.url ?? '/'] = /^\/~([\w-]+)(\/.*)$/.exec(request.url ?? '') ?? [];
      const passed = http.request(targetUrl + path, {
        method: request.method ?? 'GET',
        headers: request.headers,
        agent: false,
      });
      passed.on('response', answer => {
        const list = requests.get(client) ?? [];
        list.push({ path, status: answer.statusCode ?? 0 });
        requests.set(client, list);
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      request.pipe(passed);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new RecordingProxy(server, requests);
  }

  /** Returns the address at which `client` asks for a path of the server. */
  urlOf(client: string, path: string): string {
    return `${this.baseUrl}/~${client}${path}`;
  }

  /** Requests of `client` so far, oldest first. */
  requestsOf(client: string): readonly ProxiedRequest[] {
    return this.#requests.get(client) ?? [];
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
