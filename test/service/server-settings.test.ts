import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfigWithOrigins } from '../../src/config/load-config.ts';
import { RunningSettings } from '../../src/config/running-settings.ts';
import { type Config, settings } from '../../src/config/settings.ts';
import { ServerSettingsStore } from '../../src/operations/settings/server-settings.store.ts';
import { ServerSettings } from '../../src/operations/settings/server-settings.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Database } from '../../src/store/database.ts';
import { atEnd, clusterUrl, openClusterDatabase, severable } from '../support/cluster-fixture.ts';
import { findPostgres } from '../support/postgres.ts';
import { admin } from '../support/sign-in.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

interface Setting {
  readonly name: string;
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
  return new Map(listed.map(setting => [setting.name, setting]));
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
        detail: expect.stringContaining('live.reconnectGrace: expected a duration'),
      },
    });
    expect(await change('uploads.minFree', '1MiB')).toMatchObject({
      status: 400,
      json: {
        type: expect.stringMatching(/\/setting-contradicts-another$/),
        detail: expect.stringContaining('must be larger than recording.minFree'),
      },
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
    let isCreating = true;
    const { start: startSettings } = ServerSettings.prototype;
    // Everything is created before the first component starts.
    const spy = vi.spyOn(ServerSettings.prototype, 'start').mockImplementation(function (
      this: ServerSettings,
    ) {
      isCreating = false;
      return startSettings.call(this);
    });
    onTestFinished(() => spy.mockRestore());
    await using started = await startServer(
      {},
      {
        onSettings: running => {
          const config = new Proxy(running.config, {
            get(values, key: keyof Config) {
              if (isCreating && settings[key]?.applies === 'now') readEarly.add(key);
              return values[key];
            },
          });
          Object.defineProperty(running, 'config', { value: config });
        },
      },
    );
    server = started;
    expect([...readEarly]).toEqual([]);
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

  it('stay in use when what is stored is invalid or contradicts them, and the rest applies', async () => {
    const file = join(await testTempDir(), 'server.json');
    await writeFile(file, '{"uploads.minFree": "10GiB", "recording.minFree": "9GiB"}');
    const running = new RunningSettings(loadConfigWithOrigins({ env: {}, file }));
    const stored = { 'audit.keepDays': '0', 'uploads.minFree': '8GiB', 'live.stopGrace': '8s' };
    expect(running.replace(stored)).toEqual([
      expect.stringContaining('audit.keepDays'),
      expect.stringContaining('must be larger than recording.minFree'),
    ]);
    const { config } = running;
    expect(config['audit.keepDays']).toBe(90);
    expect(config['uploads.minFree']).toBe(10 * 1024 ** 3);
    expect(config['live.stopGrace']).toBe(8_000);
    expect(running.originOf('uploads.minFree').kind).toBe('file');
  });
});

describe('stored settings', () => {
  async function open(): Promise<Database> {
    const database = await openTestDatabase(await testTempDir());
    atEnd(() => database.stop());
    return database;
  }
  function serviceOf(database: Database) {
    const running = new RunningSettings(loadConfigWithOrigins({ env: {} }));
    const service = new ServerSettings({ settings: running, database, log: silentLogger });
    return { config: running.config, service };
  }

  it('can be changed and reset while others are invalid', async () => {
    const database = await open();
    const store = new ServerSettingsStore(database);
    await store.write('audit.keepDays', 'never');
    await store.write('encode.preset', 'draft');
    await store.write('live.stopGrace', '8s');
    const { config, service } = serviceOf(database);
    await service.apply();
    expect(config['live.stopGrace']).toBe(8_000);
    expect(await service.change('audit.keepDays', '5')).toMatchObject({ value: '5', origin: 'dashboard' });
    await service.change('encode.preset', undefined);
    await service.change('live.stopGrace', '9s');
    expect(config['audit.keepDays']).toBe(5);
    expect(config['live.stopGrace']).toBe(9_000);
    expect(await store.read()).toEqual({ 'audit.keepDays': '5', 'live.stopGrace': '9s' });
    await expect(service.change('live.stopGrace', 'soon')).rejects.toThrow();
  });

  it('apply when another server changes them while this one starts', async () => {
    const database = await open();
    const { config, service } = serviceOf(database);
    await service.apply();
    let applied = 0;
    service.onApplied(() => {
      applied += 1;
    });
    await new ServerSettingsStore(database).write('live.stopGrace', '8s');
    await service.start();
    atEnd(() => service.stop());
    await waitUntil(() => config['live.stopGrace'] === 8_000);
    expect(applied).toBe(1);
  });

  it('apply later when the database does not answer after a change', async () => {
    const database = await open();
    const other = severable(database);
    const { config, service } = serviceOf(other.database);
    await service.start();
    atEnd(() => service.stop());
    await service.change('live.stopGrace', '7s');
    other.isCut = true;
    await new ServerSettingsStore(database).write('live.stopGrace', '8s');
    await expect(service.apply()).rejects.toThrow('cut off');
    await turn();
    other.isCut = false;
    await waitUntil(() => config['live.stopGrace'] === 8_000);
  });

  it.skipIf(findPostgres() === undefined)(
    'apply on the other servers when the one that changes them dies right after the commit',
    async () => {
      const url = await clusterUrl();
      const [one, two] = [await openClusterDatabase(url), await openClusterDatabase(url)];
      const received: (string | undefined)[] = [];
      two.signals.listen('settings', key => received.push(key));
      await waitUntil(() => received.length > 0);
      one.signals.listen('settings', key => {
        if (key !== undefined) throw new Error('dies');
      });
      await new ServerSettingsStore(one).write('live.stopGrace', '8s').catch(() => {});
      await waitUntil(() => received.includes('live.stopGrace'));
    },
  );
});
