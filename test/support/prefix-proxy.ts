import { once } from 'node:events';
import { createServer, type IncomingMessage, request as requestHttp } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A reverse proxy that offers a server below a path. */
export interface PrefixProxy {
  /** URL with the path. */
  readonly url: string;
  /** Port of the server. */
  targetPort: number;
  /** True removes the path from requests, as `proxy_pass http://server/;` of nginx does. */
  isStripping: boolean;
  /** Requests for other paths. They get 404. */
  readonly outside: string[];
  /** Paths of connections that became WebSockets. */
  readonly upgraded: string[];
  stop(): Promise<void>;
}

export async function startPrefixProxy(prefix: string): Promise<PrefixProxy> {
  process.env.MILLRACE_TEST_BASE_PATH = prefix;
  const outside: string[] = [];
  const upgraded: string[] = [];
  const sockets = new Set<Socket>();
  const targetOf = ({ url = '/' }: IncomingMessage) =>
    url.startsWith(`${prefix}/`) ? (proxy.isStripping ? url.slice(prefix.length) : url) : undefined;
  const server = createServer((request, response) => {
    const path = targetOf(request);
    if (path === undefined) {
      outside.push(`${request.method} ${request.url}`);
      response.writeHead(404).end('Not here');
      return;
    }
    const { method, headers } = request;
    const passed = requestHttp({ host: '127.0.0.1', port: proxy.targetPort, method, path, headers });
    passed.on('response', answer => {
      response.writeHead(answer.statusCode!, answer.rawHeaders);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  server.on('upgrade', (request, socket: Socket, head) => {
    const path = targetOf(request);
    if (path === undefined) {
      outside.push(`UPGRADE ${request.url}`);
      socket.destroy();
      return;
    }
    const lines = [`GET ${path} HTTP/1.1`];
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
    }
    const passed = connect(proxy.targetPort, '127.0.0.1', () => {
      passed.write(`${lines.join('\r\n')}\r\n\r\n`);
      passed.write(head);
      passed.once('data', bytes => {
        if (bytes.toString('latin1').startsWith('HTTP/1.1 101 ')) upgraded.push(request.url ?? '');
      });
      socket.pipe(passed).pipe(socket);
    });
    for (const [one, other] of [
      [socket, passed],
      [passed, socket],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  });
  server.on('connection', socket => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: PrefixProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    targetPort: 0,
    isStripping: true,
    outside,
    upgraded,
    stop: async () => {
      delete process.env.MILLRACE_TEST_BASE_PATH;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return proxy;
}
