/**
 * Measures the speed and size of the server and prints them beside what they should be: `npm run bench`, or some of it with
 * `--only start,parts`. `--short` makes the runs shorter, for trying a bench out. A target that was missed is told and is no failure.
 * `--guard` compares ratios with those of `docs/benchmarks.json` and fails when one is worse; `--save` replaces them.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findFfmpeg } from '../src/ffmpeg/build/find-ffmpeg.ts';
import { benchApi } from './bench/api.ts';
import type { Bench, BenchContext } from './bench/bench-context.ts';
import { benchCluster } from './bench/cluster.ts';
import { benchClusterScale } from './bench/cluster-scale.ts';
import { benchDashboard } from './bench/dashboard.ts';
import { benchEdges } from './bench/edges.ts';
import { benchFirstPlay } from './bench/first-play.ts';
import { benchGlass } from './bench/glass.ts';
import { type Baseline, formatBaseline, ratioTable, runGuard } from './bench/guard.ts';
import { benchIdle } from './bench/idle.ts';
import { benchLiveCost } from './bench/live-cost.ts';
import { describeMachine } from './bench/machine.ts';
import { benchMemory } from './bench/memory.ts';
import { benchParts } from './bench/parts.ts';
import { machineCpuSeconds, treeCpuSeconds } from './bench/process-usage.ts';
import { benchPublishers } from './bench/publishers.ts';
import { makeRecording } from './bench/recording.ts';
import { formatTable, judge, type Row } from './bench/report.ts';
import { benchRestreams } from './bench/restreams.ts';
import { benchStart, measureServer } from './bench/start.ts';
import { benchVideosList } from './bench/videos-list.ts';
import { benchViewers } from './bench/viewers.ts';
import { benchWhep } from './bench/whep.ts';
import { projectRoot } from './project-files.ts';

const benches: Readonly<Record<string, Bench>> = {
  idle: benchIdle,
  memory: benchMemory,
  start: benchStart,
  glass: benchGlass,
  'live-cost': benchLiveCost,
  publishers: benchPublishers,
  restreams: benchRestreams,
  parts: benchParts,
  viewers: benchViewers,
  whep: benchWhep,
  edges: benchEdges,
  'first-play': benchFirstPlay,
  'videos-list': benchVideosList,
  api: benchApi,
  dashboard: benchDashboard,
  cluster: benchCluster,
  'cluster-scale': benchClusterScale,
};

const baselinePath = join(projectRoot, 'docs/benchmarks.json');
const pagePath = join(projectRoot, 'docs/benchmarks.md');
/** Benchmarks with ratios to something bare in the same run. */
const guarded: Readonly<Record<string, Bench>> = {
  idle: benchIdle,
  start: measureServer,
  'live-cost': benchLiveCost,
  'first-play': benchFirstPlay,
  api: benchApi,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    short: { type: 'boolean', default: false },
    guard: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
  },
});
const chosen = values.guard || values.save ? guarded : benches;
const isShort = values.short || chosen === guarded;
const names = values.only?.split(',') ?? Object.keys(chosen);
const unknown = names.filter(name => chosen[name] === undefined);
if (unknown.length > 0) {
  console.error(`--only: there is no ${unknown.join(', ')}; there are ${Object.keys(chosen).join(', ')}`);
  process.exit(1);
}
if (process.platform !== 'linux') {
  console.error('The benches read /proc, which only Linux has.');
  process.exit(1);
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
let code = 0;
try {
  const ffmpeg = await findFfmpeg(process.env.MILLRACE_FFMPEG_PATH, process.env);
  const context: BenchContext = {
    folder,
    ffmpeg,
    recordingPath: join(folder, 'recording.flv'),
    isShort,
  };
  const machine = describeMachine(ffmpeg.version);
  console.log(`${machine}${isShort ? '; shortened runs' : ''}\n`);
  await makeRecording(ffmpeg.path, context.recordingPath, 2500);
  const run = async (name: string): Promise<readonly Row[]> => {
    console.error(`${name} ...`);
    try {
      return await withNoise(name, () => chosen[name]!(context));
    } catch (error) {
      console.error(`${name} could not be measured:`, error);
      code = 1;
      return [];
    }
  };
  if (chosen === guarded) {
    code = await guard(run, machine);
  } else {
    const rows: Row[] = [];
    for (const name of names) rows.push(...(await run(name)));
    console.log(formatTable(rows));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit(code);

/** @returns the exit code */
async function guard(run: (name: string) => Promise<readonly Row[]>, machine: string): Promise<number> {
  const baseline = JSON.parse(await readFile(baselinePath, 'utf8')) as Baseline;
  const { ratios, exitCode } = await runGuard({ names, run, baseline, print: text => console.log(text) });
  if (!values.save) return exitCode;
  const measured = `${machine}, ${new Date().toISOString().slice(0, 10)}`;
  const left = baseline.ratios.filter(({ bench }) => !names.includes(bench));
  const saved: Baseline = { measured, ratios: [...left, ...ratios] };
  await writeFile(baselinePath, `${JSON.stringify(saved, undefined, 2)}\n`);
  const page = await readFile(pagePath, 'utf8');
  await writeFile(
    pagePath,
    page.replace(ratioTable, () => formatBaseline(saved)),
  );
  return 0;
}

/** Adds what else went on: numbers of a busy machine are worse than the server's own. */
async function withNoise(name: string, bench: () => Promise<Row[]>): Promise<Row[]> {
  const before = { machine: machineCpuSeconds(), own: treeCpuSeconds(process.pid), ms: performance.now() };
  const rows = await bench();
  const own = treeCpuSeconds(process.pid) - before.own;
  const others = machineCpuSeconds() - before.machine - own;
  const share = (100_000 * others) / (performance.now() - before.ms) / cpus().length;
  return [
    ...rows,
    judge(name, { what: 'other work on the machine meanwhile', value: Math.max(0, share), unit: '% of it' }),
  ];
}
