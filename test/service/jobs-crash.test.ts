import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const room = new URL('../../src/', import.meta.url).href;

/** A process that adds a job when its argument is `add`. The job logs each run and ends when the file `go` exists. */
const script = `
  import { appendFileSync, existsSync } from 'node:fs';
  import { Jobs } from '${room}jobs/jobs.ts';
  import { silentLogger } from '${room}shared/logger.ts';
  import { openDatabase } from '${room}store/open-database.ts';
  const dataDir = process.argv[1];
  const database = await openDatabase({ dataDir });
  const kind = {
    kind: 'work', lane: 'work', maxAttempts: 1,
    async run(job) {
      appendFileSync(dataDir + '/runs', job.attempt + ' ' + JSON.stringify(job.payload) + '\\n');
      while (!existsSync(dataDir + '/go')) await new Promise(resolve => setTimeout(resolve, 10));
    },
  };
  const jobs = new Jobs({ database, kinds: [kind], lanes: { work: 1 }, log: silentLogger,
    observer: { jobEnded: async (_, outcome) => { appendFileSync(dataDir + '/runs', outcome); await jobs.stop(); await database.stop(); } } });
  await jobs.start();
  if (process.argv[2] === 'add') await jobs.add({ kind: 'work', subjectId: 'vi1', payload: { name: 'x' } });
`;

/** A process that prepares a video whose file kills it. With no file, it writes the state of the failed video to `outcome.json`. */
const videoScript = `
  import { writeFileSync } from 'node:fs';
  import { startVodPipeline } from '${new URL('../support/vod-pipeline.ts', import.meta.url).href}';
  const [dataDir, film] = process.argv.slice(1);
  const tools = { probe: async () => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}); } };
  const pipeline = await startVodPipeline(dataDir, { context: { tools } });
  if (film !== '') await pipeline.add(film);
  else {
    const { subject_id: id, state } = await pipeline.database.first(pipeline.database.queries.selectFrom('jobs').select(['subject_id', 'state']));
    if (state === 'failed') {
      writeFileSync(dataDir + '/outcome.json', JSON.stringify(await pipeline.records.state(id)));
      await pipeline.stop();
    }
  }
`;

function startScript(text: string, ...words: string[]) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', text, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, exited: once(child, 'exit') };
}

test('a video whose job killed the process twice fails with the reason', async () => {
  const dataDir = await testTempDir();
  const film = join(dataDir, 'film');
  writeFileSync(film, 'a file that ends the process');
  expect(await startScript(videoScript, dataDir, film).exited).toEqual([null, 'SIGKILL']);
  expect(await startScript(videoScript, dataDir, '').exited).toEqual([null, 'SIGKILL']);
  expect(await startScript(videoScript, dataDir, '').exited).toEqual([0, null]);
  expect(JSON.parse(readFileSync(join(dataDir, 'outcome.json'), 'utf8'))).toMatchObject({
    failure:
      'The server stopped unexpectedly 2 times while it processed this file. Upload it again, or in another format.',
  });
});

test('a job that was interrupted by a crash runs again in the next process', async () => {
  const dataDir = await testTempDir();
  const runs = () => (existsSync(join(dataDir, 'runs')) ? readFileSync(join(dataDir, 'runs'), 'utf8') : '');
  const startProcess = (what: string) => startScript(script, dataDir, what);

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
