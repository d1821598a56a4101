import { afterEach, describe, expect, it } from 'vitest';
import { loadConfigWithOrigins } from '../../src/config/load-config.ts';
import { RunningSettings } from '../../src/config/running-settings.ts';
import { type Config, settings } from '../../src/config/settings.ts';
import { admin } from '../support/sign-in.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

interface Setting {
  readonly key: string;
  readonly value?: string;
  readonly origin: string;
  readonly isChangeable: boolean;
}

let server: TestServer;
let cookie: string;
afterEach(() => server?.stop());

async function start(options: Parameters<typeof startServer>[1] = {}): Promise<void> {
  server = await startServer({}, options);
  const answer = await fetch(`${server.baseUrl}/auth/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(admin),
  });
  cookie = answer.headers.get('set-cookie')!.split(';')[0]!;
}

async function list(): Promise<ReadonlyMap<string, Setting>> {
  const answer = await fetch(`${server.baseUrl}/server/settings`, { headers: { cookie } });
  const { settings: listed } = (await answer.json()) as { settings: Setting[] };
  return new Map(listed.map(setting => [setting.key, setting]));
}

async function change(key: string, value: string | null) {
  const answer = await fetch(`${server.baseUrl}/server/settings/${key}`, {
    method: 'PATCH',
    headers: { cookie, 'content-type': 'application/json', origin: server.baseUrl },
    body: JSON.stringify({ value }),
  });
  return { status: answer.status, json: (await answer.json()) as Setting & { detail?: string } };
}

describe('settings in the dashboard', () => {
  it('are those of the server, without secrets', async () => {
    await start();
    const listed = await list();
    expect([...listed.keys()]).toEqual(Object.keys(settings));
    expect(listed.get('live.reconnectGrace')).toMatchObject({
      value: '60s',
      origin: 'default',
      applies: 'now',
      isChangeable: true,
    });
    expect(listed.get('http.port')).toMatchObject({ applies: 'restart', isChangeable: false });
    for (const [key, { kind }] of Object.entries(settings)) {
      if (kind.isSecret) expect(listed.get(key), key).not.toHaveProperty('value');
    }
  });

  it('apply at once, on the next start too, until they are reset', async () => {
    const dataDir = await makeTempDir();
    try {
      await start({ dataDir });
      const limits = async () =>
        ((await (await server.api('GET', '/account')).json()) as { limits: object }).limits;
      expect(await limits()).toMatchObject({ videoRestoreDays: 7 });

      expect(await change('videos.restore', '30d')).toMatchObject({
        status: 200,
        json: { value: '30d', origin: 'dashboard' },
      });
      expect(await limits()).toMatchObject({ videoRestoreDays: 30 });

      await change('rateLimit.reads', '1');
      const statuses = [await server.api('GET', '/videos'), await server.api('GET', '/videos')];
      expect(statuses.map(({ status }) => status)).toContain(429);
      await change('rateLimit.reads', null);
      expect((await server.api('GET', '/videos')).status).toBe(200);

      await server.stop();
      await start({ dataDir });
      expect((await list()).get('videos.restore')).toMatchObject({ value: '30d', origin: 'dashboard' });
      expect(await limits()).toMatchObject({ videoRestoreDays: 30 });
      await change('videos.restore', null);
      expect(await limits()).toMatchObject({ videoRestoreDays: 7 });
    } finally {
      await server.stop();
      await removeDir(dataDir);
    }
  });

  it('are refused when they are invalid, contradict others, apply at a restart or do not exist', async () => {
    await start();
    expect(await change('live.reconnectGrace', 'soon')).toMatchObject({
      status: 400,
      json: {
        name: 'value',
        detail: expect.stringContaining('live.reconnectGrace: expected a length of time'),
      },
    });
    expect(await change('uploads.minFree', '1MiB')).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining('must be larger than recording.minFree') },
    });
    expect(await change('http.port', '81')).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining('MILLRACE_HTTP_PORT') },
    });
    for (const key of ['nothing', 'constructor', '__proto__'])
      expect((await change(key, '1')).status).toBe(404);
    const listed = await list();
    expect([...listed.values()].filter(({ origin }) => origin === 'dashboard')).toEqual([]);
  });

  it('that apply at once are read at each use, not when the server starts', async () => {
    const readEarly = new Set<string>();
    let isStarting = true;
    await using started = await startServer(
      {},
      {
        onSettings: running => {
          const config = new Proxy(running.config, {
            get(values, key: keyof Config) {
              if (isStarting && settings[key]?.applies === 'now') readEarly.add(key);
              return values[key];
            },
          });
          Object.defineProperty(running, 'config', { value: config });
        },
      },
    );
    isStarting = false;
    server = started;
    // Sources are looked for at once, and again at each change.
    expect([...readEarly].filter(key => !key.startsWith('pull.'))).toEqual([]);
  });
});

describe('settings of the environment', () => {
  it('have precedence over those of the dashboard, and those of the file have not', () => {
    const running = new RunningSettings(
      loadConfigWithOrigins({ env: { MILLRACE_LIVE_STOP_GRACE: '7s' }, flags: { 'videos.restore': '9d' } }),
    );
    const stored = {
      'live.stopGrace': '8s',
      'videos.restore': '1d',
      'audit.keepDays': '5',
      'http.port': '1',
    };
    expect(running.replace(stored)).toEqual([]);
    const { config } = running;
    expect(config['live.stopGrace']).toBe(7_000);
    expect(config['videos.restore']).toBe(9);
    expect(config['audit.keepDays']).toBe(5);
    expect(config['http.port']).toBe(8080);
    expect(running.originOf('live.stopGrace')).toMatchObject({
      kind: 'environment',
      where: 'MILLRACE_LIVE_STOP_GRACE',
    });
  });

  it('stay in use when what is stored contradicts them', () => {
    const running = new RunningSettings(
      loadConfigWithOrigins({ env: {}, flags: { 'recording.minFree': '9GiB', 'uploads.minFree': '10GiB' } }),
    );
    expect(running.replace({ 'audit.keepDays': '0', 'live.stopGrace': '8s' })).toEqual([
      expect.stringContaining('audit.keepDays'),
    ]);
    expect(running.config['live.stopGrace']).toBe(5_000);
  });
});
