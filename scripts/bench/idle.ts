import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServerProcess } from '../server-process.ts';
import { type Bench, type BenchContext, HelperProcess, withServer } from './bench-context.ts';
import { processTree, usageOf } from './process-usage.ts';
import { judge, percentile, type Row } from './report.ts';

const name = 'idle';
const starts = 7;
const mebibyte = 1024 * 1024;
/** The work that a start leaves for later, such as the first look at all tables, is over by then. */
const settleMs = 15_000;

interface Start {
  readonly firstLineMs: number;
  readonly readyMs: number;
  readonly cpuSeconds: number;
  readonly readBytes: number;
}

/** Measures the time and the reads of a start, and the processor time and memory of an idle server. */
export const benchIdle: Bench = async context => [
  ...(await measureStarts(context)),
  ...(await withServer(context, {}, async ({ child }) => {
    const koa = await startBareKoa();
    await sleep(settleMs);
    const before = activityOf(child.pid!);
    const fromMs = performance.now();
    await sleep(context.isShort ? 10_000 : 60_000);
    const after = activityOf(child.pid!);
    const seconds = (performance.now() - fromMs) / 1000;
    const share = (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds;
    const pssBytes = usageOf(processTree(child.pid!)).pssBytes;
    const koaPssBytes = usageOf([koa.process.child.pid!]).pssBytes;
    await koa.process.stop();
    return [
      judge(name, {
        what: 'server that nobody uses: processor',
        value: share,
        unit: '% of a core',
        max: 0.1,
      }),
      judge(name, {
        what: 'server that nobody uses: memory (PSS)',
        value: pssBytes / mebibyte,
        unit: 'MiB',
        max: 90,
      }),
      judge(name, {
        what: 'server that nobody uses: memory by that of a Koa application',
        value: pssBytes / koaPssBytes,
        unit: '×',
        better: 'lower',
      }),
      judge(name, {
        what: 'server that nobody uses: threads wake up',
        value: (after.wakeUps - before.wakeUps) / seconds,
        unit: 'times a second',
      }),
    ];
  })),
];

/** Starts on one data folder: the first makes the database and asks ffmpeg for its version, the others are as after an update or a crash. */
async function measureStarts(context: BenchContext): Promise<Row[]> {
  const dataDir = await mkdtemp(join(context.folder, 'data-'));
  try {
    const first = await measureStart(dataDir);
    const further: Start[] = [];
    const koaReadyMs: number[] = [];
    const withPackages: Pick<Start, 'readyMs' | 'cpuSeconds'>[] = [];
    for (let count = 0; count < starts; count += 1) {
      further.push(await measureStart(dataDir));
      const koa = await startBareKoa();
      koaReadyMs.push(koa.readyMs);
      await koa.process.stop();
      const loaded = await startBareKoa('./packages-koa-process.js');
      const { cpuSeconds } = usageOf([loaded.process.child.pid!]);
      withPackages.push({ readyMs: loaded.readyMs, cpuSeconds });
      await loaded.process.stop();
    }
    const median = (value: (start: Start) => number) => percentile(further.map(value), 0.5);
    const row = (what: string, value: number, unit: string) => judge(name, { what, value, unit });
    return [
      row('first start: ready', first.readyMs, 'ms'),
      row(
        `further starts: first line, p50 of ${starts}`,
        median(({ firstLineMs }) => firstLineMs),
        'ms',
      ),
      row(
        'further starts: ready, p50',
        median(({ readyMs }) => readyMs),
        'ms',
      ),
      judge(name, {
        what: 'further starts: ready, by a Koa application',
        value: median(({ readyMs }) => readyMs) / percentile(koaReadyMs, 0.5),
        unit: '×',
        better: 'lower',
      }),
      judge(name, {
        what: 'further starts: ready, by a Koa application that loads the same packages',
        value:
          median(({ readyMs }) => readyMs) /
          percentile(
            withPackages.map(({ readyMs }) => readyMs),
            0.5,
          ),
        unit: '×',
        max: 1.5,
      }),
      judge(name, {
        what: 'further starts: processor time, by that application',
        value:
          median(({ cpuSeconds }) => cpuSeconds) /
          percentile(
            withPackages.map(({ cpuSeconds }) => cpuSeconds),
            0.5,
          ),
        unit: '×',
      }),
      row('further starts: processor time, p50', 1000 * median(({ cpuSeconds }) => cpuSeconds), 'ms'),
      row('further starts: read, p50', median(({ readBytes }) => readBytes) / 1e6, 'MB'),
    ];
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measureStart(dataDir: string): Promise<Start> {
  const server = await startServerProcess({ dataDir });
  const pid = server.child.pid!;
  const { cpuSeconds } = usageOf([pid]);
  const readBytes = Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
  await server.stop();
  return { ...server.startTimes, cpuSeconds, readBytes };
}

async function startBareKoa(
  script = './trivial-koa-process.ts',
): Promise<{ process: HelperProcess<unknown>; readyMs: number }> {
  const startedMs = performance.now();
  const process = new HelperProcess(script, '');
  await process.report();
  return { process, readyMs: performance.now() - startedMs };
}

/** Processor time in nanoseconds' resolution, which ticks do not have, and how often threads went to sleep, of all threads of a process. */
function activityOf(pid: number): { cpuSeconds: number; wakeUps: number } {
  let cpuSeconds = 0;
  let wakeUps = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${thread}`;
    cpuSeconds += Number(readFileSync(`${folder}/schedstat`, 'utf8').split(' ')[0]) / 1e9;
    wakeUps += Number(
      /^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1],
    );
  }
  return { cpuSeconds, wakeUps };
}
