import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { findPostgres } from '../support/postgres.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { type DatabaseKind, databaseKinds, postgresUrlOf } from '../support/test-database.ts';

const viewerPaths = [`/li${'a'.repeat(22)}.m3u8`, `/vod/vi${'b'.repeat(22)}/hls/manifest.m3u8`];

async function started(kind: DatabaseKind, flags: Parameters<typeof startServer>[0] = {}) {
  const dataDir = await testTempDir();
  const database = kind === 'SQLite' ? {} : { 'database.url': await postgresUrlOf(dataDir) };
  const server = await startServer({ ...database, ...flags }, { dataDir });
  onTestFinished(() => server.stop());
  return server;
}

function idOf({ dataDir }: TestServer): string {
  return readFileSync(join(dataDir, 'node-id'), 'utf8').trim();
}

function statusesOf({ baseUrl }: TestServer, paths: readonly string[]): Promise<number[]> {
  return Promise.all(paths.map(async path => (await fetch(`${baseUrl}${path}`)).status));
}

function canConnect(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

describe.each(databaseKinds)('a server with %s', kind => {
  it('labels its metrics only where other servers may share the database, and tells the operator its roles', async () => {
    const server = await started(kind);
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    const samples = metrics.split('\n').filter(line => line !== '' && !line.startsWith('#'));
    const labelled = samples.filter(line => line.includes(`node="${idOf(server)}"`));
    expect(labelled.length).toBe(kind === 'SQLite' ? 0 : samples.length);
    expect(metrics.includes('node="')).toBe(kind === 'PostgreSQL');
    const told = await (await fetch(`${server.baseUrl}/health/ready`)).json();
    const roles = ['api', 'ingest', 'delivery', 'worker'];
    expect(told).toMatchObject({ status: 'ready', node: idOf(server), roles });
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const toldOutside = await (await fetch(`${server.baseUrl}/health/ready`, { headers })).json();
    expect(toldOutside).toEqual({ status: 'ready' });
  });
});

describe.skipIf(findPostgres() === undefined)('a server of a cluster with the role', () => {
  it('api opens no RTMP port, and sends viewers elsewhere', async () => {
    const port = await freePort();
    const server = await started('PostgreSQL', { 'node.roles': 'api', 'rtmp.port': String(port) });
    expect(server.app.rtmpPort).toBe(0);
    expect(await canConnect(port)).toBe(false);
    expect(await statusesOf(server, viewerPaths)).toEqual([421, 421]);
    expect((await server.api('GET', '/videos')).status).toBe(200);
    expect(await statusesOf(server, ['/dashboard', '/health/ready'])).toEqual([200, 200]);
  });

  it('worker answers health and metrics only', async () => {
    const server = await started('PostgreSQL', { 'node.roles': 'worker' });
    expect(server.app.rtmpPort).toBe(0);
    const refused = [...viewerPaths, '/dashboard', '/docs', '/watch', '/'];
    expect(await statusesOf(server, refused)).toEqual(refused.map(() => 421));
    const response = await server.api('GET', '/videos');
    expect(response.status).toBe(421);
    expect(await response.json()).toMatchObject({ status: 421, detail: expect.stringContaining('worker') });
    expect(await statusesOf(server, ['/health/live', '/health/ready', '/metrics'])).toEqual([200, 200, 200]);
    const ready = await (await fetch(`${server.baseUrl}/health/ready`)).json();
    expect(ready).toMatchObject({ node: idOf(server), roles: ['worker'] });
  });
});
