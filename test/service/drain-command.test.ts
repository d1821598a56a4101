import { afterEach, expect, it } from 'vitest';
import { type ServerProcess, startServerProcess } from '../../scripts/server-process.ts';
import { runCommand } from '../support/backup-command.ts';
import { testTempDir } from '../support/temp-dir.ts';

let server: ServerProcess | undefined;
afterEach(async () => {
  await server?.stop();
});

it('npm run drain empties a server, which still answers and then stops', async () => {
  const dataDir = await testTempDir();
  server = await startServerProcess({ dataDir });
  const { code, stdout, stderr } = await runCommand('drain', `--dataDir=${dataDir}`);
  expect([code, stderr]).toEqual([0, 'the server is drained\n']);
  expect(stdout.toString()).toContain(`Stop it with: kill ${server.child.pid}`);
  const ready = await fetch(`${server.baseUrl}/health/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ detail: 'node: the server is drained' });
  const videos = await fetch(`${server.baseUrl}/videos`, {
    headers: { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` },
  });
  expect(videos.status).toBe(200);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

it('npm run drain says when no server runs', async () => {
  const { code, stderr } = await runCommand('drain', `--dataDir=${await testTempDir()}`);
  expect([code, stderr]).toEqual([1, expect.stringContaining('There is no database in')]);
});
