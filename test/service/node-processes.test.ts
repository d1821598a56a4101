import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clusterUrl, openClusterDatabase, testTimes } from '../support/cluster-fixture.ts';
import { findPostgres } from '../support/postgres.ts';
import { rowsOf } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const room = new URL('../../src/', import.meta.url).href;

/** A node whose jobs log `NODE ATTEMPT` and end when the file `go-NODE` exists; outcomes are logged, too. */
const script = `
  import { appendFileSync, existsSync } from 'node:fs';
  import { LeasedNode } from '${room}cluster/leased-node.ts';
  import { Jobs } from '${room}jobs/jobs.ts';
  import { silentLogger as log } from '${room}shared/logger.ts';
  import { Secret } from '${room}shared/secret.ts';
  import { openDatabase } from '${room}store/open-database.ts';
  const [id, url, dataDir, folder, times] = process.argv.slice(1);
  const note = text => appendFileSync(folder + '/notes', id + ' ' + text + '\\n');
  const database = await openDatabase({ dataDir, url: new Secret(url) });
  const self = () => ({ id, url: 'http://' + id, mediaUrl: 'http://' + id, roles: ['worker'], version: '1' });
  const node = new LeasedNode({ database, place: id, schemaVersion: 1, self, times: JSON.parse(times), log });
  const kind = {
    kind: 'work', lane: 'work', maxAttempts: 5,
    run: ({ attempt, signal, parse }) => parse(async () => {
      note(attempt);
      if (existsSync(folder + '/poison')) process.kill(process.pid, 'SIGKILL');
      while (!existsSync(folder + '/go-' + id)) {
        signal.throwIfAborted();
        await new Promise(resolve => setTimeout(resolve, 20));
      }
    }),
  };
  const observer = { jobEnded: (_, outcome) => note(outcome) };
  const jobs = new Jobs({ database, kinds: [kind], lanes: { work: 1 }, owner: node, observer, log });
  await node.start();
  await jobs.start();
  if (id === 'one' && !(await jobs.has('work', 'vi1'))) await jobs.add({ kind: 'work', subjectId: 'vi1' });
`;

async function startCluster() {
  const url = await clusterUrl();
  const folder = await testTempDir();
  const startNode = async (id: string): Promise<ChildProcess> => {
    const words = [id, url, await testTempDir(), folder, JSON.stringify(testTimes)];
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, ...words], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const exited = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    return child;
  };
  const notes = () => {
    const path = join(folder, 'notes');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  };
  const release = (id: string) => writeFileSync(join(folder, `go-${id}`), '');
  const poison = () => writeFileSync(join(folder, 'poison'), '');
  return { database: await openClusterDatabase(url), startNode, notes, release, poison };
}

describe.skipIf(findPostgres() === undefined)('a job of a server process', () => {
  it('that is killed runs on another server, and counts no crash before it is back', async () => {
    const { database, startNode, notes, release } = await startCluster();
    const one = await startNode('one');
    await waitUntil(() => notes().includes('one 1'));
    await startNode('two');
    await waitUntil(async () => (await rowsOf(database, 'SELECT id FROM nodes')).length === 2);
    one.kill('SIGKILL');
    await waitUntil(() => notes().includes('two 2'));
    const crashes = () => rowsOf<{ crashes: number }>(database, 'SELECT crashes, lost_by, node_id FROM jobs');
    expect(await crashes()).toEqual([{ crashes: 0, lost_by: 'one', node_id: 'two' }]);
    await startNode('one');
    await waitUntil(async () => (await crashes())[0]?.crashes === 1);
    expect(await crashes()).toEqual([{ crashes: 1, lost_by: null, node_id: 'two' }]);
    release('two');
    await waitUntil(() => notes().includes('two done'));
    expect(await rowsOf(database, 'SELECT id FROM jobs')).toEqual([]);
  });

  it('that is stopped for a while runs on another server, and the former one records nothing', async () => {
    const { database, startNode, notes, release } = await startCluster();
    const one = await startNode('one');
    await waitUntil(() => notes().includes('one 1'));
    await startNode('two');
    await waitUntil(async () => (await rowsOf(database, 'SELECT id FROM nodes')).length === 2);
    one.kill('SIGSTOP');
    await waitUntil(() => notes().includes('two 2'));
    release('one');
    one.kill('SIGCONT');
    await waitUntil(async () => (await rowsOf(database, 'SELECT id FROM nodes')).length === 2);
    const jobs = () =>
      rowsOf<{ lost_by: string | null }>(
        database,
        'SELECT state, attempts, node_id, crashes, lost_by FROM jobs',
      );
    await waitUntil(async () => (await jobs())[0]?.lost_by === null);
    expect(await jobs()).toEqual([
      { state: 'running', attempts: 2, node_id: 'two', crashes: 0, lost_by: null },
    ]);
    release('two');
    await waitUntil(() => notes().includes('two done'));
    expect(notes()).not.toContain('one done');
  });

  it('whose file ends the server twice fails', async () => {
    const { database, startNode, poison } = await startCluster();
    poison();
    for (let crash = 0; crash < 2; crash += 1) await once(await startNode('one'), 'exit');
    await startNode('one');
    await waitUntil(async () => {
      const [job] = await rowsOf<{ state: string }>(database, 'SELECT state FROM jobs ORDER BY id');
      return job?.state === 'failed';
    });
    expect(await rowsOf(database, 'SELECT crashes, attempts FROM jobs ORDER BY id')).toContainEqual({
      crashes: 2,
      attempts: 2,
    });
  });
});
