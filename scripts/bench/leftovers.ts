import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '../server-process.ts';
import { type Bench, type BenchContext, makeStream, publish, withServer } from './bench-context.ts';
import { openFiles, processTree, usageOf } from './process-usage.ts';
import { judge } from './report.ts';
import { waitUntilPlayable } from './viewer.ts';

const mebibyte = 1024 * 1024;
const atOnce = 10;
/** Ended broadcasts can be played for a minute. */
const keptMs = 62_000;

/** At SIGUSR2 the server collects its garbage and prints what keeps its event loop alive. */
const inspector = `
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
process.on('SIGUSR2', () => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  console.log('resources ' + JSON.stringify(process.getActiveResourcesInfo()));
});
`;

/** What an idle server takes, and what a hundred broadcasts leave behind. */
export const benchLeftovers: Bench = context => {
  const rounds = context.isShort ? 2 : 10;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(inspector)}` };
  return withServer(context, env, async server => {
    await sleep(3000);
    const idle = usageOf([server.child.pid!]);
    // The first ones load code and warm caches; and what the start left to be collected must not hide what is left later.
    await broadcastShortly(context, server);
    await sleep(keptMs);
    const before = await inspect(server);
    for (let round = 0; round < rounds; round += 1) await broadcastShortly(context, server);
    await sleep(keptMs);
    const after = await inspect(server);
    const name = 'leftovers';
    const count = `after ${rounds * atOnce} broadcasts`;
    const row = (what: string, value: number, unit: string, atMost: number) =>
      judge(name, { what, value, unit, atMost });
    return [
      row('idle server, memory (PSS)', idle.pssBytes / mebibyte, 'MiB', 130),
      row(`${count}: more memory (PSS)`, (after.pssBytes - before.pssBytes) / mebibyte, 'MiB', 20),
      row(`${count}: more processes`, after.processes - before.processes, '', 0),
      row(`${count}: more open files`, after.files - before.files, '', 0),
      row(`${count}: more timers`, after.timers - before.timers, '', 0),
    ];
  });
};

async function broadcastShortly(context: BenchContext, server: ServerProcess): Promise<void> {
  const streams = await Promise.all(Array.from({ length: atOnce }, () => makeStream(server)));
  const publisher = publish(context, server, streams);
  await Promise.all(streams.map(stream => waitUntilPlayable(server, stream.liveStreamId)));
  await Promise.all(streams.map(stream => complete(server, stream.liveStreamId)));
  await publisher.stop();
}

async function complete(server: ServerProcess, liveStreamId: string): Promise<void> {
  const answer = await fetch(`${server.baseUrl}/live-streams/${liveStreamId}/complete`, {
    method: 'PUT',
    headers: { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` },
  });
  if (!answer.ok) throw new Error(`complete answered ${answer.status}: ${await answer.text()}`);
}

async function inspect(server: ServerProcess): Promise<{
  pssBytes: number;
  processes: number;
  files: number;
  timers: number;
}> {
  const pid = server.child.pid!;
  const isReport = (line: string) => line.startsWith('resources ');
  server.child.kill('SIGUSR2');
  // Connections of ours that are kept alive count as its files until they time out.
  await sleep(7000);
  const report = server.lines.findLast(isReport);
  if (report === undefined) throw new Error('the server did not say what it holds');
  const resources = JSON.parse(report.slice('resources '.length)) as string[];
  const tree = processTree(pid);
  return {
    pssBytes: usageOf(tree).pssBytes,
    processes: tree.length,
    files: openFiles(pid),
    timers: resources.filter(resource => resource === 'Timeout').length,
  };
}
