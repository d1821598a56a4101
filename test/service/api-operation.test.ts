import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../src/shared/logger.ts';
import { runSql } from '../support/sql.ts';
import { type StartApiOptions, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';

async function started(options: StartApiOptions = {}): Promise<TestApi> {
  const server = await startApi(options);
  onTestFinished(() => server.stop());
  return server;
}

const proxied = { 'x-forwarded-for': '203.0.113.9' };

describe('health', () => {
  it('is live as long as the process runs', async () => {
    const server = await started({ faults: () => 'broken' });
    const answer = await server.call('GET', '/health/live', { key: null });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ status: 'live' });
  });

  it('is ready when every part is, and names the parts to this machine only', async () => {
    const server = await started();
    expect((await server.call('GET', '/health/ready', { key: null })).json).toEqual({
      status: 'ready',
      checks: ['test'],
    });
    const seenFromOutside = await server.call('GET', '/health/ready', { key: null, headers: proxied });
    expect(seenFromOutside.json).toEqual({ status: 'ready' });
  });

  it('answers 503 when a part is not, and tells this machine why', async () => {
    const server = await started({ faults: () => 'no ffmpeg' });
    const answer = await server.call('GET', '/health/ready', { key: null });
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ title: 'The server is not ready.', detail: 'test: no ffmpeg' });
    const seenFromOutside = await server.call('GET', '/health/ready', { key: null, headers: proxied });
    expect(seenFromOutside.status).toBe(503);
    expect(seenFromOutside.json).not.toHaveProperty('detail');
  });

  it('logs a fault once, and its end, however often it is asked', async () => {
    const lines: string[] = [];
    const log = await createLogger({
      level: 'info',
      pretty: false,
      sink: { write: line => void lines.push(line) },
    });
    let fault: string | undefined = 'no RTMP port is open';
    const server = await started({ log, faults: () => fault });
    const ask = () => server.call('GET', '/health/ready', { key: null });
    for (let times = 0; times < 3; times += 1) expect((await ask()).status).toBe(503);
    fault = undefined;
    for (let times = 0; times < 3; times += 1) expect((await ask()).status).toBe(200);
    const events = lines.map(line => JSON.parse(line) as Record<string, unknown>);
    expect(events.filter(({ event }) => event !== 'listening')).toEqual([
      expect.objectContaining({
        level: 'warn',
        component: 'health',
        event: 'not-ready',
        detail: 'test: no RTMP port is open',
      }),
      expect.objectContaining({ level: 'info', component: 'health', event: 'ready-again' }),
    ]);
  });
});

describe('metrics', () => {
  it('count API requests by route pattern and status, whatever the path', async () => {
    const server = await started();
    await server.call('GET', '/live-streams/li1');
    await server.call('GET', '/live-streams/li2');
    await server.call('GET', '/random-path-1');
    await server.call('GET', '/random-path-2');
    const answer = await server.call('GET', '/metrics', { key: null });
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.text).toContain(
      'millrace_http_requests_total{method="GET",route="/live-streams/{liveStreamId}",status="404"} 2',
    );
    expect(answer.text).toContain(
      'millrace_http_requests_total{method="GET",route="unmatched",status="404"} 2',
    );
    expect(answer.text).not.toContain('random-path');
  });

  it('have names and types as Prometheus wants them', async () => {
    const server = await started();
    const { text } = await server.call('GET', '/metrics', { key: null });
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(match => [match[1]!, match[2]!] as const);
    expect(types.map(([name]) => name)).toContain('millrace_event_loop_delay_seconds');
    for (const [name, type] of types) {
      expect(name).toMatch(/^millrace_/);
      expect(type === 'counter', name).toBe(name.endsWith('_total'));
    }
    expect(Number(/^millrace_process_cpu_seconds_total (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
  });

  it('are for this machine or the token', async () => {
    const server = await started({ metricsToken: 'of the operator' });
    const status = async (path: string, headers: Record<string, string> = {}) =>
      (await server.call('GET', path, { key: null, headers })).status;
    expect(await status('/metrics')).toBe(200);
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'origin']) {
      expect(await status('/metrics', { [name]: 'x' }), name).toBe(403);
    }
    for (const path of ['/metrics', '/health/ready']) {
      // Proxies write addresses into their logs.
      expect(await status(`${path}?token=of%20the%20operator`, proxied)).toBe(400);
    }
    expect(await status('/metrics', { ...proxied, authorization: 'Bearer wrong' })).toBe(403);
    expect(await status('/metrics', { ...proxied, authorization: 'Bearer of the operator' })).toBe(200);
  });
});

describe('the log', () => {
  it('has a line for each request, without keys, tokens or query values', async () => {
    const lines: string[] = [];
    const log = await createLogger({
      level: 'trace',
      pretty: false,
      sink: { write: line => lines.push(line) },
    });
    const server = await started({ log });
    const made = await server.call('POST', '/live-streams', { body: { name: 'Pier' } });
    const tokens = await server.call('POST', '/auth/api-key', { key: null, body: { apiKey: sandboxKey } });
    await server.call('GET', `/live-streams?streamKey=${made.json.streamKey}`);
    await server.call('GET', '/health/ready?token=guessed');
    await server.call('GET', '/live-streams', { key: 'wrong-key' });
    const text = lines.join('');
    expect(text).toContain('"route":"/live-streams"');
    expect(text).toContain('"code":"authentication-invalid-api-key"');
    for (const secret of [
      sandboxKey,
      made.json.streamKey,
      tokens.json.access_token,
      'guessed',
      'wrong-key',
    ]) {
      expect(text.includes(secret)).toBe(false);
    }
  });

  it('has the cause of a fault that the caller is not told', async () => {
    const lines: string[] = [];
    const log = await createLogger({
      level: 'info',
      pretty: false,
      sink: { write: line => lines.push(line) },
    });
    const server = await started({ log });
    await runSql(server.database, 'ALTER TABLE list_totals RENAME TO list_totals_hidden');
    const answer = await server.call('GET', '/live-streams');
    expect(answer.status).toBe(500);
    expect(answer.json).toEqual({ title: 'Server error', status: 500 });
    expect(lines.join('')).toMatch(/no such table|does not exist/);
  });
});

describe('the API document', () => {
  it('is answered without a key, with the address of this server', async () => {
    const server = await started();
    const { json, headers } = await server.call('GET', '/openapi.json', { key: null });
    expect(headers.get('content-type')).toBe('application/json');
    expect(json.openapi).toBe('3.1.1');
    expect(json.servers).toEqual([{ url: `http://localhost:${server.listener.httpPort}` }]);
    expect(json.paths['/live-streams'].get.security).toEqual([
      ...[{ apiKey: ['read'] }, { accessToken: ['read'] }],
      { session: ['read'], environment: [] },
    ]);
  });

  it('is sent compressed, and not again to those who have it', async () => {
    const server = await started();
    const ask = async (headers: OutgoingHttpHeaders, method = 'GET') => {
      const sent = request({ port: server.listener.httpPort, path: '/openapi.json', method, headers }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
    };
    const plain = await ask({});
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers).toMatchObject({ 'cache-control': 'public, max-age=300', vary: 'Accept-Encoding' });
    const brotli = await ask({ 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotli.body.length).toBeLessThan(plain.body.length / 10);
    expect(brotliDecompressSync(brotli.body)).toEqual(plain.body);
    const gzip = await ask({ 'accept-encoding': 'gzip' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gzip.body)).toEqual(plain.body);
    expect(gzip.headers.etag).toBe(plain.headers.etag);
    const again = await ask({ 'accept-encoding': 'br', 'if-none-match': plain.headers.etag! });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, plain.headers.etag]);
    const head = await ask({ 'accept-encoding': 'br' }, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(brotli.body.length));
  });
});

describe('the address that names an error', () => {
  it('leads to what the error means', async () => {
    const server = await started();
    const refused = await server.call('GET', '/nothing');
    const path = new URL(refused.json.type).pathname;
    const answer = await server.call('GET', path, { key: null });
    expect(answer.json).toEqual({
      code: 'unrecognized-request-url',
      title: 'Unrecognized request URL.',
      status: 404,
    });
    expect((await server.call('GET', '/docs/errors/nonsense', { key: null })).status).toBe(404);
  });
});

describe('a request target in absolute form', () => {
  it('is served like any other', async () => {
    const server = await started();
    const status = await new Promise(resolve => {
      const options = { path: 'http://some.host/health/live', headers: { host: 'some.host' } };
      request({ port: server.listener.httpPort, ...options }, response => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(status).toBe(200);
  });
});
