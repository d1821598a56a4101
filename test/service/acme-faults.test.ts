import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request as requestHttp } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, createServer as createTlsServer, request as requestHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { type LogLine, recordingLogger } from '../support/ingest-client.ts';
import { type Pebble, pebbleMissing, startPebble } from '../support/pebble.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const domain = 'video.localhost';
const otherDomain = 'live.localhost';
/** Shorter than usual. */
const retries = { delaysMs: [200], jitter: { min: 1, max: 1 } };

interface Ports {
  readonly http: number;
  readonly https: number;
}

let pebble: Pebble;
let ports: Ports;

async function pickPorts(): Promise<Ports> {
  const [http, https] = await Promise.all([freePort(), freePort()]);
  return { http, https };
}

async function startWithCertificate(
  flags: Parameters<typeof startServer>[0] = {},
  options: Parameters<typeof startServer>[1] & {
    log?: never;
    lines?: LogLine[];
    pebble?: Pebble;
    ports?: Ports;
  } = {},
): Promise<TestServer> {
  const { lines = [], pebble: authority = pebble, ports: own = ports, ...rest } = options;
  const server = await startServer(
    {
      'http.port': String(own.http),
      'https.port': String(own.https),
      'rtmps.port': '0',
      'tls.domains': domain,
      'tls.email': 'admin@example.org',
      'tls.acmeDirectory': authority.directory,
      'tls.acmeCa': authority.caPath,
      ...flags,
    },
    { certificateRetries: retries, log: recordingLogger(lines), ...rest },
  );
  onTestFinished(() => server.stop());
  return server;
}

/** The certificate that a port shows for a name; undefined when it refuses the connection. */
async function shownAt(
  port: number,
  servername = domain,
  protocols: string[] = ['http/1.1'],
): Promise<string | undefined> {
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    servername,
    rejectUnauthorized: false,
    ALPNProtocols: protocols,
  });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate().raw.toString('base64');
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

async function firstCertificate(server: TestServer): Promise<string> {
  return waitUntil(() => shownAt(server.app.httpsPort!), { what: 'the first certificate' });
}

interface PlainAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

async function askPlain(
  port: number,
  path: string,
  host = domain,
  headers: Record<string, string> = {},
): Promise<PlainAnswer> {
  const request = requestHttp({
    host: '127.0.0.1',
    port,
    path,
    headers: { host, ...headers },
    agent: false,
  }).end();
  const [response] = await once(request, 'response');
  let body = '';
  for await (const chunk of response.setEncoding('utf8')) body += chunk;
  return { status: response.statusCode, location: response.headers.location, body };
}

async function serverState(server: TestServer) {
  return (await (await server.api('GET', '/server')).json()) as {
    certificate: { state: string; domains: string[]; expiresAt?: string };
    warnings: { code: string; text: string }[];
  };
}

function loggedProblem(lines: readonly LogLine[]): string | undefined {
  const problem = lines.find(({ event }) => event === 'certificate-failed')?.data.problem;
  return problem as string | undefined;
}

async function findProblem(server: TestServer): Promise<string | undefined> {
  return (await serverState(server)).warnings.find(({ code }) => code === 'certificate-failed')?.text;
}

function problemOf(server: TestServer): Promise<string> {
  return waitUntil(() => findProblem(server), { what: 'the warning' });
}

describe.skipIf(pebbleMissing !== undefined)('a certificate that the server orders', () => {
  beforeAll(async () => {
    ports = await pickPorts();
    pebble = await startPebble({ httpPort: ports.http, tlsPort: ports.https });
  });
  beforeEach(async () => {
    await pebble.setAddress(domain, '127.0.0.1');
    await pebble.setAddress(otherDomain, '127.0.0.1');
  });
  afterAll(() => pebble?.stop());

  it('is issued by HTTP-01 for all names, and sends plain HTTP to HTTPS', async () => {
    const lines: LogLine[] = [];
    const server = await startWithCertificate({ 'tls.domains': `${domain}, ${otherDomain}` }, { lines });
    expect(server.app.publicUrl).toBe(`https://${domain}:${ports.https}`);
    await firstCertificate(server);
    expect(lines).toContainEqual(
      expect.objectContaining({
        event: 'certificate-ordering',
        data: expect.objectContaining({ challengeType: 'http-01' }),
      }),
    );
    const root = await pebble.root();
    for (const servername of [domain, otherDomain]) {
      const agent = new Agent({ ca: root, servername });
      const request = requestHttps({
        host: '127.0.0.1',
        port: ports.https,
        path: '/health/live',
        servername,
        agent,
      }).end();
      const [response] = await once(request, 'response');
      expect(response.statusCode).toBe(200);
      response.resume();
      agent.destroy();
    }
    const session = connectHttp2(`https://127.0.0.1:${ports.https}`, { ca: root, servername: domain });
    const stream = session.request({ ':path': '/health/live', ':authority': domain });
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(200);
    session.destroy();

    // Nobody asks for a challenge now, nor without a name.
    for (const servername of [domain, '']) {
      expect(await shownAt(ports.https, servername, ['acme-tls/1'])).toBeUndefined();
      expect(await shownAt(ports.https, servername, ['foo'])).toBeUndefined();
      expect(await shownAt(ports.https, servername)).toBeDefined();
    }

    const target = `https://${domain}:${ports.https}`;
    expect(await askPlain(ports.http, '/videos?a=b')).toMatchObject({
      status: 308,
      location: `${target}/videos?a=b`,
    });
    expect(
      await askPlain(ports.http, '//evil.example/', `${domain.toUpperCase()}:${ports.http}`),
    ).toMatchObject({
      status: 308,
      location: `${target}//evil.example/`,
    });
    for (const path of ['*', '*.evil.example/'])
      expect(await askPlain(ports.http, path)).toMatchObject({ location: undefined });
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    expect(await askPlain(ports.http, '/events', domain, upgrade)).toMatchObject({
      status: 308,
      location: `${target}/events`,
    });
    expect((await askPlain(ports.http, '/health/live')).status).toBe(200);
    expect((await askPlain(ports.http, '/dashboard', '127.0.0.1')).status).toBe(200);
    for (const token of ['unknown', '..%2f..%2fetc', 'x'.repeat(5_000), '%00']) {
      expect(await askPlain(ports.http, `/.well-known/acme-challenge/${token}`)).toEqual({
        status: 404,
        location: undefined,
        body: 'This challenge is not known.',
      });
    }
    expect(await serverState(server)).toMatchObject({
      certificate: { state: 'valid', domains: [domain, otherDomain] },
    });
    expect(await findProblem(server)).toBeUndefined();
  });

  it('is issued by TLS-ALPN-01 when port 80 cannot be reached', async () => {
    const own = await pickPorts();
    const authority = await startPebble({ httpPort: await freePort(), tlsPort: own.https });
    onTestFinished(() => authority.stop());
    await authority.setAddress(domain, '127.0.0.1');
    const lines: LogLine[] = [];
    const server = await startWithCertificate({}, { pebble: authority, ports: own, lines });
    await firstCertificate(server);
    const problem = loggedProblem(lines);
    expect(problem).toContain(`could not connect to port 80 of ${domain}`);
    expect(problem).toContain(`port 80 must lead to the HTTP port ${own.http} of this server`);
    expect(
      lines.filter(({ event }) => event === 'certificate-ordering').map(({ data }) => data.challengeType),
    ).toEqual(['http-01', 'tls-alpn-01']);
    expect(await serverState(server)).toMatchObject({ certificate: { state: 'valid' } });
    expect(await findProblem(server)).toBeUndefined();
  });

  it('keeps HTTP working without it, refuses HTTPS and RTMPS, and explains a name that leads elsewhere', async () => {
    const stranger = createServer((_, response) => response.end('somebody else')).listen(
      ports.http,
      '127.0.0.3',
    );
    await once(stranger, 'listening');
    onTestFinished(() => void stranger.close());
    await pebble.setAddress(domain, '127.0.0.3');
    const dataDir = await testTempDir();
    const ordersBefore = await pebble.countOrders();
    const slow = { dataDir, certificateRetries: { ...retries, delaysMs: [3_600_000] } };
    const server = await startWithCertificate({}, slow);
    const problem = await problemOf(server);
    expect(problem).toContain(
      `There is no certificate for ${domain} yet: HTTPS and RTMPS refuse connections, HTTP works.`,
    );
    expect(problem).toContain(`Something other than this server answered on port 80 of ${domain}.`);
    expect(problem).toContain(
      `From here, ${domain} leads to 127.0.0.1, ::1; this server's own addresses are`,
    );
    expect(problem).toMatch(/The server tries again at \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/);
    expect(await shownAt(server.app.httpsPort!)).toBeUndefined();
    expect(await shownAt(server.app.rtmpsPort!)).toBeUndefined();
    expect((await askPlain(ports.http, '/dashboard')).status).toBe(200);
    await server.stop();

    // A pause survives a restart, and ends with other settings.
    await pebble.setAddress(domain, '127.0.0.1');
    const again = await startWithCertificate({}, slow);
    expect((await problemOf(again)).split(' The server tries')[0]).toBe(
      problem.split(' The server tries')[0],
    );
    await again.stop();
    const changed = await startWithCertificate({ 'tls.email': 'other@example.org' }, slow);
    await firstCertificate(changed);
    expect(await pebble.countOrders()).toBe(ordersBefore + 2);
  });

  it('is ordered again after the name got its address', async () => {
    await pebble.setAddress(domain, undefined);
    const lines: LogLine[] = [];
    const server = await startWithCertificate({}, { lines });
    expect(await waitUntil(() => loggedProblem(lines))).toContain(domain);
    await pebble.setAddress(domain, '127.0.0.1');
    await firstCertificate(server);
    expect(await findProblem(server)).toBeUndefined();
  });

  it('waits for a certificate authority that is down, and continues its order', async () => {
    await pebble.kill();
    const server = await startWithCertificate();
    expect(await problemOf(server)).toMatch(
      /The certificate authority localhost:\d+ cannot be reached \(.*ECONNREFUSED/,
    );
    expect((await askPlain(ports.http, '/dashboard')).status).toBe(200);
    await pebble.start();
    await firstCertificate(server);
  });

  it('is issued by an authority that needs an account, and explained without it or with a wrong key', async () => {
    const own = await pickPorts();
    const macKey = randomBytes(32).toString('base64url');
    const authority = await startPebble({
      httpPort: own.http,
      tlsPort: own.https,
      externalAccounts: { 'key-1': macKey },
    });
    onTestFinished(() => authority.stop());
    await authority.setAddress(domain, '127.0.0.1');
    const dataDir = await testTempDir();
    const start = (flags: Parameters<typeof startServer>[0]) =>
      startWithCertificate(flags, { pebble: authority, ports: own, dataDir });
    const without = await start({});
    expect(await problemOf(without)).toContain('Set tls.acmeKeyId and tls.acmeMacKey');
    await without.stop();
    const wrong = await start({ 'tls.acmeKeyId': 'key-1', 'tls.acmeMacKey': 'd3Jvbmc' });
    await waitUntil(async () => (await findProblem(wrong))?.includes('refused the request'));
    await wrong.stop();
    const server = await start({ 'tls.acmeKeyId': 'key-1', 'tls.acmeMacKey': macKey });
    await firstCertificate(server);
    await waitUntil(async () => (await findProblem(server)) === undefined);
  });

  it('explains an authority that is not trusted, and a name that it refuses', async () => {
    const untrusted = await startWithCertificate({ 'tls.acmeCa': '/dev/null' });
    expect(await problemOf(untrusted)).toContain('set tls.acmeCa to the file with its root certificate');
    await untrusted.stop();
    const refused = await startWithCertificate({ 'tls.domains': 'blocked.example' });
    expect(await problemOf(refused)).toContain(
      'does not issue certificates for one of the names blocked.example. Correct tls.domains.',
    );
  });

  it('bounds what an authority answers, and respects the time that it asks to wait', async () => {
    const { cert, key } = makeSelfSigned('localhost');
    const caPath = join(await testTempDir(), 'ca.pem');
    await writeFile(caPath, cert);
    const day = { 'Retry-After': '86400' };
    const limit = { type: 'urn:ietf:params:acme:error:rateLimited', detail: 'too many\ncertificates' };
    const authority = createTlsServer({ cert, key }, (request, response) => {
      if (request.url === '/limit') response.writeHead(429, day).end(JSON.stringify(limit));
      else if (request.url === '/page') response.end('<html>');
      else response.write('x'.repeat(1_000_000));
    }).listen(0, '127.0.0.1');
    await once(authority, 'listening');
    onTestFinished(() => void authority.closeAllConnections());
    onTestFinished(() => void authority.close());
    const { port } = authority.address() as AddressInfo;
    const problems: Record<string, string> = {};
    for (const path of ['limit', 'page', 'endless']) {
      const directory = `https://localhost:${port}/${path}`;
      const server = await startWithCertificate({ 'tls.acmeDirectory': directory, 'tls.acmeCa': caPath });
      problems[path] = await problemOf(server);
      await server.stop();
    }
    expect(problems.limit).toContain('accepts no more for now. It said: too many certificates');
    const retryAtMs = Date.parse(/again at (.*)\.$/.exec(problems.limit!)![1]!);
    expect(retryAtMs - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect(problems.page).toContain('Check the address tls.acmeDirectory.');
    expect(problems.endless).toContain('the answer is larger than 262144 B');
  });

  it('is renewed while connections stay open, outlives an authority that is down, and is told as expired', async () => {
    const own = await pickPorts();
    const authority = await startPebble({ httpPort: own.http, tlsPort: own.https, validitySeconds: 10 });
    onTestFinished(() => authority.stop());
    await authority.setAddress(domain, '127.0.0.1');
    const lines: LogLine[] = [];
    const server = await startWithCertificate({}, { pebble: authority, ports: own, lines });
    const first = await firstCertificate(server);
    const open = ['https', 'rtmps'].map(kind =>
      connectTls({
        host: '127.0.0.1',
        port: kind === 'https' ? server.app.httpsPort! : server.app.rtmpsPort!,
        servername: domain,
        rejectUnauthorized: false,
        ...(kind === 'https' ? { ALPNProtocols: ['http/1.1'] } : {}),
      }),
    );
    const ended: TLSSocket[] = [];
    for (const socket of open) {
      onTestFinished(() => void socket.destroy());
      socket.on('close', () => ended.push(socket));
      if (!socket.getCipher()) await once(socket, 'secureConnect').catch(() => {});
    }
    for (const port of [server.app.httpsPort!, server.app.rtmpsPort!]) {
      await waitUntil(
        async () => {
          const shown = await shownAt(port);
          return shown !== undefined && shown !== first;
        },
        { what: `the renewed certificate at ${port}` },
      );
    }
    open[0]!.write(`GET /health/live HTTP/1.1\r\nHost: ${domain}\r\n\r\n`);
    const [answer] = await once(open[0]!, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1.1 200 /);
    expect(ended).toEqual([]);
    // The authority suggests the time, and is told which certificate the new one replaces.
    await waitUntil(() => lines.some(({ event }) => event === 'renewal-suggested'));
    await waitUntil(async () => (await authority.log()).includes('has been marked as replaced'));

    await authority.kill();
    await waitUntil(async () => (await serverState(server)).certificate.state === 'expired');
    expect(await problemOf(server)).toMatch(/expired at .* cannot be reached/);
    expect(await shownAt(server.app.httpsPort!)).toBeDefined();
    // The authority has lost its memory: the account is registered again, with the same key.
    await authority.start();
    await waitUntil(async () => (await serverState(server)).certificate.state === 'valid');
  });
});
