import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { totalmem } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { NewestVersion } from '../../src/operations/server-state/newest-version.ts';
import { type ServerComponents, ServerMonitor } from '../../src/operations/server-state/server-monitor.ts';
import { ServerStateStore } from '../../src/operations/server-state/server-state.store.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { runSql } from '../support/sql.ts';
import { startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';

let server: TestApi;
beforeAll(async () => {
  server = await startApi();
});
afterAll(() => server.stop());

const parts: ServerComponents = {
  programs: [{ name: 'ffmpeg', path: '/usr/bin/ffmpeg', version: '7.1' }],
  isolation: { isActive: true },
  encoder: () => ({ kind: 'software' }),
  minFreeBytes: 1,
  codecs: ['h264'],
  recordingLagSeconds: () => 0,
  childPids: () => [],
  jobs: async () => ({ waiting: 2, running: 1, isPaused: false }),
  live: () => ({ broadcasts: 1, viewers: 24 }),
  nodes: async () => undefined,
};

/** A watch on the database of the API, with a clock for durations that is moved by hand. */
function watching(changed: Partial<ServerComponents> = {}) {
  const time = { ms: 0 };
  const watch = new ServerMonitor({
    version: '1.2.3',
    dataDir: server.dataDir,
    store: new ServerStateStore(server.database),
    components: { ...parts, ...changed },
    clock: { nowMs: () => Date.now(), monotonicMs: () => time.ms },
    log: silentLogger,
    intervalMs: 10,
  });
  onTestFinished(() => watch.stop());
  return { watch, time };
}

describe('the state of the server', () => {
  it('is only for the account of the operator', async () => {
    const told = await server.call('GET', '/server');
    expect(told.status).toBe(200);
    expect(told.json).toMatchObject({ version: '0.0.0', live: { broadcasts: 0, viewers: 0 } });
    const other = await server.addAccount({ isUpgraded: true });
    for (const key of [other.sandboxKey, other.productionKey]) {
      const refused = await server.call('GET', '/server', { key });
      expect([refused.status, refused.json.title]).toEqual([403, 'Only the server operator can do this.']);
    }
  });

  it('contains the measurements of the machine and the server', async () => {
    const state = await watching().watch.state();
    expect(state).toMatchObject({
      version: '1.2.3',
      queue: { waiting: 2, running: 1, failedToday: 0, isPaused: false },
      live: { broadcasts: 1, viewers: 24 },
      memory: { machineTotalBytes: totalmem() },
      programs: parts.programs,
    });
    const { cpu, memory, disk } = state;
    expect(cpu.cores).toBeGreaterThan(0);
    expect(cpu.machinePercent).toBeLessThanOrEqual(100);
    expect(memory.serverBytes).toBeGreaterThan(10_000_000);
    expect(memory.machineFreeBytes).toBeLessThan(memory.machineTotalBytes);
    expect(disk.freeBytes).toBeLessThan(disk.totalBytes);
  });

  it.runIf(process.platform === 'linux')('contains the memory of child processes', async () => {
    const child = execFile('sleep', ['60']);
    onTestFinished(() => void child.kill());
    // The second one is gone, or was never there.
    const { memory } = await watching({ childPids: () => [child.pid!, 4_194_304] }).watch.state();
    expect(memory.childrenBytes).toBeGreaterThan(100_000);
    expect(memory.childrenBytes).toBeLessThan(50_000_000);
  });

  it('counts the jobs that failed today', async () => {
    const add =
      "INSERT INTO jobs (kind, lane, subject_id, payload, priority, state, run_at_ms, failed_at_ms, created_at_ms) VALUES ('encode', 'encode', 'vi', 'null', 0, 'failed', 0, ?, 0)";
    await runSql(server.database, add, Date.now());
    await runSql(server.database, add, Date.now() - 86_400_000);
    expect((await watching().watch.state()).queue.failedToday).toBe(1);
  });

  it('is measured repeatedly while it is requested', async () => {
    let looks = 0;
    const jobs = async () => {
      looks += 1;
      return { waiting: looks, running: 0, isPaused: false };
    };
    const { watch, time } = watching({ jobs });
    expect([watch.isRunning, looks]).toEqual([false, 0]);
    const [one, two] = await Promise.all([watch.state(), watch.state()]);
    expect([one.queue.waiting, two.queue.waiting]).toEqual([1, 1]);
    await waitUntil(async () => (await watch.state()).queue.waiting > 2);
    time.ms += 60_001;
    await waitUntil(() => !watch.isRunning);
    const seen = looks;
    const later = await watch.state();
    expect([later.queue.waiting, watch.isRunning]).toEqual([seen + 1, true]);
  });

  it('names a newer version, where the operator gave an address to ask', async () => {
    let answer: unknown;
    const origin = createServer((_request, response) => void response.end(JSON.stringify(answer)));
    await once(origin.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void origin.close());
    const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    const newest = new NewestVersion({ url, version: '1.9.3', log: silentLogger });
    const found = async (next: unknown) => {
      answer = next;
      await newest.run();
      return newest.newer;
    };
    expect(await found({ version: '1.10.0' })).toBe('1.10.0');
    expect(await found('nothing of the kind')).toBe('1.10.0');
    expect(await found({ version: '1.9.3' })).toBeUndefined();
    expect(await found({ tag_name: 'v2.0.0' })).toBe('2.0.0');
    expect(await found({ version: '2.0.0<script>' })).toBe('2.0.0');
    expect(await found({ version: '1.8.9' })).toBeUndefined();
    const { watch } = watching({ newerVersion: () => '1.10.0' });
    expect(await watch.state()).toMatchObject({ newerVersion: '1.10.0' });
  });

  it('contains warnings', async () => {
    const { watch } = watching({ minFreeBytes: Number.MAX_SAFE_INTEGER });
    const { warnings } = await watch.state();
    expect(warnings[0]).toMatchObject({
      code: 'disk-full',
      text: expect.stringMatching(/^Uploads are refused: /),
    });
    const asked = watching().watch;
    const pending = asked.state();
    await asked.stop();
    await expect(pending).rejects.toMatchObject({ code: 'server-draining' });
    await expect(asked.state()).rejects.toMatchObject({ code: 'server-draining' });
    expect(asked.isRunning).toBe(false);
  });
});
