import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startServerProcess } from '../../scripts/server-process.ts';
import { checkPorts } from '../../src/cli/doctor/port-checks.ts';
import { readOutputOf } from '../../src/cli/doctor/read-log.ts';
import { askRunningServer } from '../../src/cli/doctor/running-server.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Finding } from '../../src/operations/checks/finding.ts';
import { checkPublicUrl } from '../../src/operations/checks/public-checks.ts';
import { schemaVersion } from '../../src/store/migrations.ts';
import { startCommand } from '../support/backup-command.ts';
import { freePort } from '../support/free-port.ts';
import { isInstalled, startNginx } from '../support/nginx.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';

const { signal } = new AbortController();

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const statesOf = (findings: readonly Finding[]) =>
  Object.fromEntries(findings.map(({ check, state }) => [check, state]));

/** Runs the command with its own data folder, and reads its JSON. */
async function doctor(...args: string[]) {
  const { code, stdout, stderr } = await startCommand('doctor', [...args, '--json'], {
    env: { MILLRACE_DATA_DIR: '' },
  }).ended;
  const text = stdout.toString();
  return { code, stderr, view: text === '' ? undefined : JSON.parse(text) };
}

describe('from outside', () => {
  it('everything works without a proxy', async () => {
    const { findings, probe } = await checkPublicUrl(server.baseUrl, signal);
    expect(statesOf(findings)).toEqual({
      name: 'ok',
      certificate: 'skipped',
      http: 'ok',
      // The address is 127.0.0.1, and the public URL localhost.
      proxy: 'warning',
      clock: 'ok',
      query: 'ok',
      range: 'ok',
      buffering: 'ok',
      websocket: 'ok',
    });
    const { app } = server;
    expect(probe?.ports).toEqual({
      rtmp: app.rtmpPort,
      rtmps: null,
      srt: app.srtPort,
      webrtc: app.webrtcPort,
    });
    expect(statesOf(await checkPorts('127.0.0.1', probe!.ports))).toEqual({
      rtmp: 'ok',
      rtmps: 'skipped',
      srt: 'ok',
      'webrtc-udp': 'ok',
      'webrtc-tcp': 'ok',
    });
  });

  it.skipIf(!isInstalled('nginx', '-v'))('finds what a proxy does to requests', async () => {
    const folder = await testTempDir();
    const [brokenPort, sharedPort, gonePort] = [await freePort(), await freePort(), await freePort()];
    const nginx = await startNginx({
      folder,
      site: port => `
        proxy_cache_path ${folder}/cache keys_zone=cache:1m;
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass ${server.baseUrl};
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection upgrade;
          }
        }
        server {
          listen 127.0.0.1:${brokenPort};
          max_ranges 0;
          location / {
            proxy_ignore_headers X-Accel-Buffering;
            proxy_set_header Range "";
            set $no_query "";
            proxy_pass ${server.baseUrl}$uri$no_query;
          }
        }
        server {
          listen 127.0.0.1:${sharedPort};
          location / { proxy_pass ${server.baseUrl}; proxy_cache cache; proxy_cache_key $uri; }
        }
        server { listen 127.0.0.1:${gonePort}; location / { proxy_pass http://127.0.0.1:9; } }`,
    });
    onTestFinished(() => nginx.stop());
    const check = async (port: number) => (await checkPublicUrl(`http://127.0.0.1:${port}`, signal)).findings;
    const working = { query: 'ok', range: 'ok', buffering: 'ok', websocket: 'ok' };
    expect(statesOf(await check(nginx.httpPort))).toMatchObject(working);
    const broken = await check(brokenPort);
    expect(statesOf(broken)).toMatchObject({
      query: 'failed',
      range: 'failed',
      buffering: 'warning',
      websocket: 'warning',
    });
    for (const { state, why, mend } of broken) {
      if (state === 'failed' || state === 'warning')
        expect([why, mend]).toEqual([expect.any(String), expect.any(String)]);
    }
    expect((await check(sharedPort)).find(({ check: name }) => name === 'query')?.text).toMatch(
      /^A cache gives/,
    );
    expect((await check(gonePort)).find(({ check: name }) => name === 'http')).toMatchObject({
      check: 'http',
      state: 'failed',
      text: expect.stringContaining('status 502'),
    });
  });

  it('finds closed ports and strangers, and follows nobody', async () => {
    const closed = await freePort();
    const stranger = createServer((_request, response) => {
      response.writeHead(302, { Location: `${server.baseUrl}/health/probe` }).end();
    });
    stranger.listen(0, '127.0.0.1');
    onTestFinished(() => void stranger.close());
    const { code, view } = await doctor(
      '--from',
      `http://127.0.0.1:${closed}`,
      ...['rtmp', 'srt', 'webrtc'].map(name => `--${name}.port=${closed}`),
    );
    expect([code, statesOf(view.findings)]).toEqual([
      2,
      {
        name: 'ok',
        certificate: 'skipped',
        http: 'failed',
        rtmp: 'failed',
        rtmps: 'skipped',
        srt: 'failed',
        'webrtc-udp': 'failed',
        'webrtc-tcp': 'failed',
      },
    ]);
    const { port } = stranger.address() as AddressInfo;
    const { findings, probe } = await checkPublicUrl(`http://127.0.0.1:${port}`, signal);
    expect([findings.find(({ check }) => check === 'http')?.text, probe]).toEqual([
      `Something other than this version of Millrace answers, with the status 302, and leads to ${server.baseUrl}.`,
      undefined,
    ]);
  });

  it('refuses addresses with credentials, and other settings', async () => {
    for (const words of [
      ['--from', 'https://me:secret@video.example.org'],
      ['--from', 'ftp://x'],
      ['--from', 'x', '--host=y'],
    ]) {
      expect(await doctor(...words)).toMatchObject({ code: 2, view: undefined });
    }
  });
});

describe('on the machine of the server', () => {
  it('asks a server that runs', async () => {
    const { app, baseUrl, dataDir } = server;
    const running = {
      pid: process.pid,
      dataDir,
      programDir: '',
      publicUrl: baseUrl,
      httpPort: app.httpPort,
      startedAtMs: 1,
    };
    const config = loadConfig({ env: {}, flags: { host: '127.0.0.1' } });
    const { isAnswered, findings } = await askRunningServer(running, config, signal);
    expect(isAnswered).toBe(true);
    const states = statesOf(findings);
    for (const check of [
      'server',
      'database',
      'ffmpeg',
      'encoders',
      'rtmp',
      'srt',
      'webrtc-udp',
      'webrtc-tcp',
    ]) {
      expect([check, states[check]]).toEqual([check, 'ok']);
    }
    const refused = await fetch(`${baseUrl}/health/checks`, {
      headers: { 'X-Forwarded-For': '203.0.113.9' },
    });
    expect(refused.status).toBe(403);
    const own = await server.api('GET', '/server/checks');
    expect([own.status, await own.json()]).toEqual([
      200,
      { checkedAt: expect.any(String), findings: expect.any(Array) },
    ]);
  });

  it('checks what it can without a server, and changes nothing', async () => {
    const folder = join(await testTempDir(), 'data');
    const { code, view } = await doctor(
      `--dataDir=${folder}`,
      `--http.port=${server.app.httpPort}`,
      '--host=127.0.0.1',
    );
    expect([code, view.mode, existsSync(folder)]).toEqual([2, 'stopped', false]);
    const ports = view.findings.find(({ check }: Finding) => check === 'ports');
    expect(ports).toMatchObject({
      state: 'failed',
      text: expect.stringContaining(`HTTP port ${server.app.httpPort} is already in use`),
    });
    expect(statesOf(view.findings)).toMatchObject({
      database: 'skipped',
      'data-folder': 'skipped',
      ffmpeg: 'ok',
      encoders: 'ok',
    });
  });

  it('checks the names of the certificate that the server would order', async () => {
    const folder = join(await testTempDir(), 'data');
    const { view } = await doctor(
      `--dataDir=${folder}`,
      '--tls.domains=missing.invalid,localhost',
      `--https.port=${await freePort()}`,
    );
    const { state, text } = view.findings.find(({ check }: Finding) => check === 'certificate');
    expect(state).toBe('failed');
    expect(text).toMatch(
      /^missing\.invalid has no address \(\w+\): give it .*\. localhost leads to .* in your own network only/,
    );
  });

  it('writes a support archive without anything secret', async () => {
    const folder = await testTempDir();
    const secrets = Array.from(
      { length: 24 },
      (_, index) => `planted-${String.fromCharCode(97 + index)}-secret`,
    );
    let next = 0;
    const secret = () => secrets[next++]!;
    const stream = await server.createStream(secret());
    const updated = await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, {
      source: { enabled: false, url: `rtmp://user:${secret()}@203.0.113.9/live/${secret()}` },
    });
    expect(updated.status).toBe(200);
    const configPath = join(folder, 'server.json');
    const config = {
      publicUrl: `http://video.invalid/${secret()}`,
      metrics: { token: secret() },
      oidc: { issuer: `https://issuer.invalid/${secret()}`, clientId: secret(), clientSecret: secret() },
      smtp: { host: 'mail.invalid', from: `${secret()}@example.org`, user: secret(), password: secret() },
      storage: { url: `s3://${secret()}:${secret()}@bucket/${secret()}?endpoint=http://127.0.0.1:9` },
      srt: { passphrase: secret() },
      bootstrap: { sandboxKey: secret().repeat(3) },
      log: { level: 'warn' },
    };
    await writeFile(configPath, JSON.stringify(config));
    const logPath = join(folder, `${secret()}.log`);
    const line = { level: 'warn', time: '2026-03-04T05:06:07.000Z', component: 'main', event: 'ready' };
    const lines = [
      {
        ...line,
        http: 8080,
        url: `/live?token=${secret()}`,
        error: { code: 'ECONNREFUSED', message: secret() },
      },
      { ...line, event: secret() },
      { ...line, component: secret(), [secret()]: true },
      { ...line, code: secret(), [secret()]: 5 },
    ];
    await writeFile(logPath, [...lines.map(one => JSON.stringify(one)), `crash: ${secret()}`].join('\n'));
    const archivePath = join(folder, 'support.tar.gz');
    const { stderr } = await startCommand(
      'doctor',
      [
        `--config=${configPath}`,
        `--dataDir=${server.dataDir}`,
        '--http.port=0',
        '--bundle',
        archivePath,
        '--log',
        logPath,
      ],
      { env: { MILLRACE_ADMIN_PASSWORD: secret(), AWS_SECRET_ACCESS_KEY: secret() } },
    ).ended;
    expect(stderr).toContain(`Support archive: ${archivePath}`);
    const archive = gunzipSync(await readFile(archivePath)).toString('latin1');
    const planted = [...secrets, stream.streamKey, server.productionKey, folder, server.dataDir, hostname()];
    expect(planted.filter(one => archive.includes(one))).toEqual([]);
    for (const kept of [
      '"metrics.token": "set"',
      '"log.level": "warn"',
      '"smtp.port": 587',
      '"check": "disk-space"',
      `"schema": ${schemaVersion}`,
      '{"time":"2026-03-04T05:06:07.000Z","level":"warn","component":"main","event":"ready","code":"ECONNREFUSED","http":8080}',
    ]) {
      expect(archive).toContain(kept);
    }
    const again = await startCommand('doctor', ['--bundle', archivePath]).ended;
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists. Name a new file')]);
  });

  it('has the last lines of a server that writes to a pipe in the archive, without anything secret', async () => {
    const dataDir = join(await testTempDir(), 'planted-folder-secret');
    await mkdir(dataDir);
    const running = await startServerProcess({ dataDir });
    onTestFinished(async () => void (await running.stop()));
    expect(running.lines.join('\n')).toContain('planted-folder-secret');
    const folderOfArchive = await testTempDir();
    const archivePath = join(folderOfArchive, 'support.tar.gz');
    // Left by a command that was killed while it wrote.
    await writeFile(`${archivePath}.partial`, 'torn');
    const { stderr } = await startCommand('doctor', [`--dataDir=${dataDir}`, '--bundle', archivePath]).ended;
    expect(stderr).toContain(`Support archive: ${archivePath}`);
    expect(await readdir(folderOfArchive)).toEqual(['support.tar.gz']);
    const archive = gunzipSync(await readFile(archivePath)).toString('latin1');
    const answer = await fetch(`${running.baseUrl}/health/log`);
    expect(answer.status).toBe(200);
    const { lines } = (await answer.json()) as { lines: string[] };
    for (const text of [archive, lines.join('\n')]) {
      expect(text).toContain('"component":"main","event":"ready"');
      expect(text).toContain(`"http":${running.httpPort}`);
      expect(text).not.toContain('planted-folder-secret');
    }
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    expect((await fetch(`${running.baseUrl}/health/log`, { headers })).status).toBe(403);
  });

  it.runIf(process.platform === 'linux')(
    'reads the log that a server writes to a file, and waits for no pipe',
    async () => {
      const path = join(await testTempDir(), 'server.log');
      const lines = Array.from({ length: 1_200 }, (_, index) => `line ${index}`);
      await writeFile(path, lines.join('\n'));
      const file = await open(path, 'a');
      const outputs = [file.fd, 'pipe', 'ignore'] as const;
      const [writing, piping, silent] = outputs.map(output => {
        const child = spawn('sleep', ['60'], { stdio: ['ignore', output, 'ignore'] });
        onTestFinished(() => void child.kill());
        return child;
      });
      await file.close();
      expect(await readOutputOf(writing!.pid!)).toEqual(lines.slice(-1_000));
      for (const child of [piping!, silent!]) expect(await readOutputOf(child.pid!)).toEqual(['']);
    },
  );

  it('refuses files that it cannot use before it checks anything', async () => {
    const folder = await testTempDir();
    for (const words of [
      ['--bundle', '-'],
      ['--bundle', join(folder, 'missing', 'support.tar.gz')],
      ['--bundle', join(folder, 'support.tar.gz'), '--log', '/dev/null'],
    ]) {
      expect(await doctor(...words)).toMatchObject({ code: 2, view: undefined });
    }
    expect(existsSync(join(folder, 'support.tar.gz'))).toBe(false);
  });

  it('leaves no part of an archive where it cannot be written', async () => {
    const folder = await testTempDir();
    const path = join(folder, 'support.tar.gz');
    const words = ['doctor', '--from', server.baseUrl, '--bundle', path];
    const child = spawn('sh', [
      '-c',
      'ulimit -f 0; exec "$0" bin/millrace.cjs "$@"',
      process.execPath,
      ...words,
    ]);
    const stderr = await text(child.stderr);
    expect(stderr).toContain('--bundle: EFBIG');
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes no endless answer', async () => {
    const stranger = createServer((_request, response) => {
      response.on('drain', () => response.write(Buffer.alloc(65_536)));
      response.write(Buffer.alloc(65_536));
    });
    stranger.listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    onTestFinished(() => void stranger.close());
    const { port: httpPort } = stranger.address() as AddressInfo;
    const running = { pid: 1, dataDir: '', programDir: '', publicUrl: 'http://x', httpPort, startedAtMs: 1 };
    const config = loadConfig({ env: {}, flags: { host: '127.0.0.1' } });
    expect(await askRunningServer(running, config, signal)).toMatchObject({
      isAnswered: false,
      findings: [{ text: expect.stringContaining('the answer is too large') }],
    });
  });

  it('names wrong settings', async () => {
    const { code, view } = await doctor('--http.port=many');
    expect([code, statesOf(view.findings)]).toEqual([2, { settings: 'failed' }]);
    const several = await doctor('--http.port=many', '--rtmp.port=none');
    expect(several.view.findings[0].text).toMatch(/^--http\.port: .*; --rtmp\.port: /);
  });
});
