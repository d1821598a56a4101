import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { type LogLine, recordingLogger } from '../support/ingest-client.ts';
import { isInstalled, startListener } from '../support/nginx.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The address that the balancers connect from, so that clients of 127.0.0.1 differ from them. */
const balancer = '127.0.0.2';
const log: LogLine[] = [];
let folder: string;
let server: TestServer;
/** Ports of the balancer. */
const ports = { http: 0, https: 0, httpsEnded: 0, rtmp: 0, rtmps: 0, status: 0 };
type Port = Exclude<keyof typeof ports, 'status' | 'httpsEnded'>;

beforeAll(async () => {
  folder = await makeTempDir();
  const { cert, key } = makeSelfSigned('localhost');
  await writeFile(join(folder, 'cert.pem'), cert);
  await writeFile(join(folder, 'key.pem'), key);
  await writeFile(join(folder, 'both.pem'), cert + key);
  server = await startServer(
    {
      'proxyProtocol.from': balancer,
      'https.port': '0',
      'rtmps.port': '0',
      'tls.cert': join(folder, 'cert.pem'),
      'tls.key': join(folder, 'key.pem'),
    },
    { log: recordingLogger(log) },
  );
});

afterAll(async () => {
  await server.stop();
  await removeDir(folder);
});

const targetOf = (port: Port): number => {
  const { httpPort, httpsPort, rtmpPort, rtmpsPort } = server.app;
  return { http: httpPort, https: httpsPort!, rtmp: rtmpPort, rtmps: rtmpsPort! }[port];
};

const tcpPorts = ['https', 'rtmp', 'rtmps'] as const;

async function startHaproxy(version: 'send-proxy' | 'send-proxy-v2'): Promise<void> {
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
  const backend = (name: string, mode: 'http' | 'tcp', port: Port, send: string = version) => [
    `backend ${name}`,
    `  mode ${mode}`,
    `  source ${balancer}`,
    ...(mode === 'http' ? ['  http-reuse always', '  option httpchk GET /health/ready'] : []),
    `  server a 127.0.0.1:${targetOf(port)} ${send}${mode === 'http' ? ' check inter 1s' : ''}`,
  ];
  const frontend = (name: keyof typeof ports, mode: 'http' | 'tcp', to: string, bind = '') => [
    `frontend in-${name}`,
    `  mode ${mode}`,
    `  bind 127.0.0.1:${ports[name]}${bind}`,
    `  default_backend ${to}`,
  ];
  const configuration = [
    'defaults',
    '  timeout connect 10s',
    '  timeout check 20s',
    '  timeout client 60s',
    '  timeout server 60s',
    ...frontend('http', 'http', 'http'),
    ...backend('http', 'http', 'http'),
    ...frontend('httpsEnded', 'http', 'http-tls', ` ssl crt ${join(folder, 'both.pem')}`),
    ...backend('http-tls', 'http', 'http', version === 'send-proxy' ? version : 'send-proxy-v2-ssl'),
    ...tcpPorts.flatMap(name => [...frontend(name, 'tcp', name), ...backend(name, 'tcp', name)]),
    'frontend status',
    '  mode http',
    `  bind 127.0.0.1:${ports.status}`,
    '  stats enable',
    '  stats uri /',
    '',
  ];
  const path = join(folder, 'haproxy.cfg');
  await writeFile(path, configuration.join('\n'));
  const haproxy = await startListener('haproxy', ['-db', '-f', path], ports.status);
  onTestFinished(() => haproxy.stop());
}

async function startNginxStream(): Promise<void> {
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
  await mkdir(join(folder, 'nginx'), { recursive: true });
  const path = join(folder, 'nginx', 'nginx.conf');
  const configuration = [
    `load_module ${streamModule};`,
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    `daemon off; worker_processes 1; pid ${join(folder, 'nginx', 'pid')};`,
    'events { worker_connections 256; }',
    `stream { proxy_protocol on; proxy_bind ${balancer};`,
    ...(['http', ...tcpPorts] as const).map(
      name => `server { listen 127.0.0.1:${ports[name]}; proxy_pass 127.0.0.1:${targetOf(name)}; }`,
    ),
    '}',
  ];
  await writeFile(path, configuration.join('\n'));
  const words = ['-c', path, '-e', join(folder, 'nginx', 'error.log')];
  const nginx = await startListener('nginx', words, ports.http);
  onTestFinished(() => nginx.stop());
}

/** Starts HAProxy with the configuration of the documentation, in which one server is both. */
async function startDocumentedHaproxy(): Promise<void> {
  for (const name of ['http', 'rtmp', 'status'] as const) ports[name] = await freePort();
  const text = await readFile(new URL('../../docs/cluster/haproxy.cfg', import.meta.url), 'utf8');
  const configuration = text
    .replace('maxconn 20000', 'maxconn 1000')
    .replace('bind :8080', `bind 127.0.0.1:${ports.http}`)
    .replace('bind :1935', `bind 127.0.0.1:${ports.rtmp}`)
    .replaceAll(/server-[ab]:8080/g, `127.0.0.1:${targetOf('http')}`)
    .replaceAll(/server-[ab]:1935/g, `127.0.0.1:${targetOf('rtmp')}`)
    .replace('port 8080', `port ${targetOf('http')}`)
    .replaceAll(/balance (?:leastconn|source)/g, `$&\n  source ${balancer}`);
  const status = [
    'frontend status',
    '  mode http',
    `  bind 127.0.0.1:${ports.status}`,
    '  stats enable',
    '  stats uri /',
    '',
  ];
  const path = join(folder, 'documented.cfg');
  await writeFile(path, [configuration, ...status].join('\n'));
  const haproxy = await startListener('haproxy', ['-db', '-f', path], ports.status);
  onTestFinished(() => haproxy.stop());
}

/** Calls the API through the balancer, from an address of this machine. */
async function call(
  method: string,
  path: string,
  {
    port = ports.http,
    localAddress = '127.0.0.1',
    body,
  }: { port?: number; localAddress?: string; body?: object } = {},
): Promise<{ response: IncomingMessage; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({
    method,
    path,
    port,
    host: '127.0.0.1',
    localAddress,
    headers: {
      authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}`,
      'content-type': 'application/json',
      // Nobody listed clients as trusted proxies.
      'x-forwarded-for': '203.0.113.9',
    },
  })
    .on('response', resolve)
    .on('error', reject)
    .end(body === undefined ? undefined : JSON.stringify(body));
  const response = await promise;
  return { response, body: await text(response) };
}

/** The server sees the addresses of clients in the audit log and at publishers. */
async function expectAddressesOfClients(publishing: readonly ('rtmp' | 'rtmps')[]): Promise<void> {
  for (const localAddress of ['127.0.0.1', '127.0.0.9']) {
    const created = await call('POST', '/live-streams', { localAddress, body: { name: localAddress } });
    expect(created.response.statusCode).toBe(200);
    const { liveStreamId, streamKey } = JSON.parse(created.body);
    const audit = await call('GET', `/account/audit-log?targetId=${liveStreamId}`);
    expect(JSON.parse(audit.body).data).toMatchObject([{ address: localAddress }]);
    for (const name of publishing) {
      const client = await RtmpClient.connect({ port: ports[name], tls: name === 'rtmps' });
      onTestFinished(() => client.destroy());
      const before = log.length;
      expect(await client.publish(streamKey)).toMatchObject({ code: 'NetStream.Publish.Start' });
      const attached = await waitUntil(() =>
        log.slice(before).find(({ event }) => event === 'publisher-attached'),
      );
      expect(attached.data).toMatchObject({ address: '127.0.0.1' });
      await client.close();
    }
  }
}

/** Waits until health checks of these servers were answered. */
async function expectHealthy(servers: readonly string[]): Promise<void> {
  await waitUntil(async () => {
    const { body } = await call('GET', '/;csv', { port: ports.status });
    const lines = body.split('\n').filter(line => servers.some(server => line.startsWith(server)));
    return lines.length === servers.length && lines.every(line => /,UP,.*L7OK/.test(line));
  });
}

/** TLS that the server itself ends. */
async function expectTls(): Promise<void> {
  const response = await fetchTls(ports.https);
  expect(response.headers['strict-transport-security']).toMatch(/^max-age=/);
}

async function fetchTls(port: number): Promise<IncomingMessage> {
  const { request: requestTls } = await import('node:https');
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  requestTls({ host: '127.0.0.1', port, path: '/health/live', rejectUnauthorized: false, agent: false })
    .on('response', resolve)
    .on('error', reject)
    .end();
  const response = await promise;
  expect([response.statusCode, await text(response)]).toEqual([200, expect.stringContaining('live')]);
  return response;
}

describe.runIf(isInstalled('haproxy', '-v'))('behind HAProxy', () => {
  it.each(['send-proxy', 'send-proxy-v2'] as const)(
    'with %s, the server sees the addresses of clients, and answers health checks',
    async version => {
      await startHaproxy(version);
      await expectAddressesOfClients(['rtmp', 'rtmps']);
      await expectTls();
      const { headers } = await fetchTls(ports.httpsEnded);
      // Version 1 does not tell of TLS.
      const isTold = headers['strict-transport-security'] !== undefined;
      expect(isTold).toBe(version === 'send-proxy-v2');
      await expectHealthy(['http,a,']);
      expect(log.filter(({ event }) => event === 'proxy-header-refused')).toEqual([]);
    },
  );

  it('with the configuration of the documentation, the server sees the addresses of clients, and answers health checks', async () => {
    await startDocumentedHaproxy();
    await expectAddressesOfClients(['rtmp']);
    await expectHealthy([
      'reports,a,',
      'reports,b,',
      'servers,a,',
      'servers,b,',
      'publishers,a,',
      'publishers,b,',
    ]);
    expect(log.filter(({ event }) => event === 'proxy-header-refused')).toEqual([]);
  });

  it('which sends no header, the server refuses its connections, and the log says what to do', async () => {
    const port = await freePort();
    const path = join(folder, 'plain.cfg');
    const configuration = [
      'defaults',
      '  timeout connect 10s',
      '  timeout client 60s',
      '  timeout server 60s',
      'listen plain',
      '  mode tcp',
      `  bind 127.0.0.1:${port}`,
      `  source ${balancer}`,
      `  server a 127.0.0.1:${server.app.httpPort}`,
      '',
    ];
    await writeFile(path, configuration.join('\n'));
    const haproxy = await startListener('haproxy', ['-db', '-f', path], port);
    onTestFinished(() => haproxy.stop());
    await expect(call('GET', '/health/live', { port })).rejects.toThrow();
    expect(log.find(({ event }) => event === 'proxy-header-refused')).toMatchObject({
      level: 'warn',
      data: { remoteAddress: balancer, advice: expect.stringContaining('send-proxy-v2') },
    });
  });
});

const streamModule = '/usr/lib/nginx/modules/ngx_stream_module.so';
describe.runIf(existsSync(streamModule))('behind nginx as a TCP proxy', () => {
  it('the server sees the addresses of clients', async () => {
    await startNginxStream();
    await expectAddressesOfClients(['rtmp', 'rtmps']);
    await expectTls();
  });
});
