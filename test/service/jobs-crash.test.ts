import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirOfTest } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const room = new URL('../../src/', import.meta.url).href;

/** Adds a job at its first run only; the job says that it runs, and ends only once the file `go` is there. */
const script = `
  import { appendFileSync, existsSync } from 'node:fs';
  import { Jobs } from '${room}jobs/jobs.ts';
  import { silentLogger } from '${room}shared/logger.ts';
  import { openDatabase } from '${room}store/database.ts';
  const dataDir = process.argv[1];
  const database = openDatabase({ dataDir });
  const kind = {
    kind: 'work', lane: 'work', attemptsAtMost: 1,
    async run(job) {
      appendFileSync(dataDir + '/runs', job.attempt + ' ' + JSON.stringify(job.payload) + '\\n');
      while (!existsSync(dataDir + '/go')) await new Promise(resolve => setTimeout(resolve, 10));
    },
  };
  const jobs = new Jobs({ database, kinds: [kind], lanes: { work: 1 }, log: silentLogger,
    observer: { jobEnded: async (_, outcome) => { appendFileSync(dataDir + '/runs', outcome); await jobs.stop(); await database.stop(); } } });
  await jobs.start();
  if (process.argv[2] === 'add') jobs.add({ kind: 'work', subjectId: 'vi1', payload: { name: 'x' } });
`;

test('a job in whose middle the process was killed runs again in the next process', async () => {
  const dataDir = await tempDirOfTest();
  const runs = () => (existsSync(join(dataDir, 'runs')) ? readFileSync(join(dataDir, 'runs'), 'utf8') : '');
  const startProcess = (what: string) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, dataDir, what], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, exited: once(child, 'exit') };
  };

  const first = startProcess('add');
  await waitUntil(() => runs() === '1 {"name":"x"}\n');
  first.child.kill('SIGKILL');
  await first.exited;

  const second = startProcess('go-on');
  await waitUntil(() => runs() === '1 {"name":"x"}\n2 {"name":"x"}\n');
  writeFileSync(join(dataDir, 'go'), '');
  expect(await second.exited).toEqual([0, null]);
  expect(runs()).toBe('1 {"name":"x"}\n2 {"name":"x"}\ndone');
});
