import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BuildCommand, RunOptions } from '../../src/ffmpeg/media-tools.ts';
import { AppError } from '../../src/shared/errors.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { commandOf } from '../support/ffmpeg-command.ts';
import { fixture } from '../support/fixtures.ts';
import { ampleLimits, makeMediaTools, toolBuilds } from '../support/media-tools.ts';
import { descendantsOf } from '../support/processes.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const never = new AbortController().signal;

function runOptions(more: Partial<RunOptions> = {}): RunOptions {
  return { limits: ampleLimits, signal: never, purpose: 'test', ids: { videoId: 'vi1' }, ...more };
}

/** Generates a second of video each second, without an end. */
function endless(output: string, framesPerSecond = '30'): BuildCommand {
  const source = `testsrc2=size=320x180:rate=${framesPerSecond}`;
  return commandOf(['-re', '-f', 'lavfi'], source, ['-c:v', 'mpeg4', '-f', 'matroska'], output);
}

function decode(source: string, ...options: string[]): BuildCommand {
  return commandOf([], source, [...options, '-f', 'null'], '-');
}

/** Notes the ids of processes, which are on their log lines. */
function processLog(): { readonly log: Logger; readonly pids: number[] } {
  const pids: number[] = [];
  const log: Logger = {
    ...silentLogger,
    child(_component, ids) {
      if (typeof ids?.pid === 'number') pids.push(ids.pid);
      return log;
    },
  };
  return { log, pids };
}

/** The program in the sandbox of a process, which is its last descendant; the process itself where there is none. */
function programIn(pid = -1): number {
  return descendantsOf(pid).at(-1) ?? pid;
}

/** State as the kernel names it: `R`, `S`, `T` for stopped; undefined when there is none. */
function processState(pid: number): string | undefined {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

/** The program that a process has become. */
function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

async function failureOf(work: Promise<unknown>): Promise<AppError> {
  const outcome = await work.then(
    () => 'success',
    (error: unknown) => error,
  );
  if (outcome instanceof AppError) return outcome;
  throw new Error(`expected an AppError: ${outcome}`);
}

describe.each(toolBuilds)('a run of the $name ffmpeg', builds => {
  test('writes its output and tells how far it is', async () => {
    const output = join(await testTempDir(), 'out.mp4');
    const outcomes: unknown[] = [];
    const times: number[] = [];
    const tools = makeMediaTools(builds, {
      observer: { runEnded: (purpose, outcome) => outcomes.push([purpose, outcome]) },
    });
    const encode = ['-s', '320x180', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'copy'];
    await tools.runCommand(
      commandOf([], await fixture('h264-720p'), encode, output),
      runOptions({ onProgress: ({ timeSeconds }) => times.push(timeSeconds) }),
    );
    expect((await tools.probe(output, never)).durationSeconds).toBeCloseTo(12, 1);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeGreaterThan(11.5);
    expect(outcomes).toEqual([
      ['test', 'done'],
      ['probe', 'done'],
    ]);
    expect(tools.owner.running).toBe(0);
  });

  test('that fails tells what ffmpeg said', async () => {
    const failure = await failureOf(
      makeMediaTools(builds).runCommand(decode(await fixture('truncated')), runOptions()),
    );
    expect(failure.code).toBe('process-failed');
    expect(failure.message).toMatch(/^ffmpeg ended with code \d+: .*Invalid data/);
    expect(failure.details.data?.lines).toContainEqual(expect.stringContaining('moov atom not found'));
  });

  test.skipIf(process.platform !== 'linux')('that finds the disk full says so', async () => {
    for (const format of ['mp4', 'matroska']) {
      const copy = commandOf([], await fixture('h264-aac'), ['-c', 'copy', '-f', format], 'file:/dev/full');
      expect([format, (await failureOf(makeMediaTools(builds).runCommand(copy, runOptions()))).code]).toEqual(
        [format, 'disk-full'],
      );
    }
  });

  test('that is aborted rejects with the reason once its process is gone', async () => {
    const output = join(await testTempDir(), 'out.mkv');
    const abort = new AbortController();
    const tools = makeMediaTools(builds);
    const running = tools.runCommand(
      endless(output),
      runOptions({ signal: abort.signal, onProgress: () => abort.abort('enough') }),
    );
    await expect(running).rejects.toBe('enough');
    expect(tools.owner.running).toBe(0);
    await expect(tools.runCommand(endless(output), runOptions({ signal: abort.signal }))).rejects.toBe(
      'enough',
    );
  });

  test('ends when it takes too long, and when nothing comes of it any more', async () => {
    const output = join(await testTempDir(), 'out.mkv');
    const tools = makeMediaTools(builds);
    const late = await failureOf(
      tools.runCommand(endless(output), runOptions({ limits: { ...ampleLimits, timeoutMs: 1_500 } })),
    );
    expect([late.code, late.message]).toEqual(['process-failed', 'ffmpeg took longer than 1.5 s']);
    const slow = endless(output, '0.01');
    const stalled = await failureOf(
      tools.runCommand(slow, runOptions({ limits: { ...ampleLimits, stallMs: 1_500 } })),
    );
    expect(stalled.message).toBe('ffmpeg showed no progress for 1.5 s');
    expect(tools.owner.running).toBe(0);
  });

  test('may not write more than it is let, nor take more memory', async () => {
    const output = join(await testTempDir(), 'out.mp4');
    const tools = makeMediaTools(builds);
    const copy = commandOf([], await fixture('h264-720p'), ['-c', 'copy'], output);
    const large = await failureOf(
      tools.runCommand(copy, runOptions({ limits: { ...ampleLimits, outputBytes: 100_000 } })),
    );
    expect(large.message).toBe('ffmpeg wrote a larger file than it may');
    expect((await stat(output)).size).toBeLessThanOrEqual(100_000);

    const filter = 'format=rgb24,scale=16000:16000';
    const huge = decode(await fixture('h264-only'), '-vf', filter, '-frames:v', '4');
    const greedy = await failureOf(
      tools.runCommand(huge, runOptions({ limits: { ...ampleLimits, memoryBytes: 500 * 2 ** 20 } })),
    );
    expect(greedy.details.data?.lines).toContainEqual(
      expect.stringMatching(/allocate memory|temporarily unavailable/),
    );
  });

  test('opens no address, in none of its inputs', async () => {
    let connections = 0;
    const server = createServer(socket => {
      connections++;
      socket.destroy();
    });
    const { promise: listening, resolve } = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', resolve);
    await listening;
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const address = `http://127.0.0.1:${port}/x.mp4`;
    const file = await fixture('h264-only');
    const tools = makeMediaTools(builds);
    for (const inputs of [[address], [file, address], [`tcp://127.0.0.1:${port}`]]) {
      const read: BuildCommand = command => {
        for (const input of inputs) command.input(input);
        return command.output('-').outputOptions('-f', 'null');
      };
      const failure = await failureOf(tools.runCommand(read, runOptions()));
      expect(failure.code).toBe('process-failed');
    }
    expect(connections).toBe(0);
  });

  test('reads and writes files only', async () => {
    const tools = makeMediaTools(builds);
    const source = await fixture('h264-aac');
    const missing = decode(`${source}-missing`);
    expect((await failureOf(tools.runCommand(missing, runOptions()))).message).toMatch(/No such file/);
    const streaming: BuildCommand = command => command.input(source).output(process.stdout).format('null');
    expect((await failureOf(tools.runCommand(streaming, runOptions()))).code).toBe('server-error');
  });

  test('gets neither the settings nor the secrets of the server', async () => {
    process.env.SECRET_OF_THE_TEST = 'x';
    onTestFinished(() => void delete process.env.SECRET_OF_THE_TEST);
    const { log, pids } = processLog();
    const abort = new AbortController();
    const tools = makeMediaTools(builds, { log });
    const output = join(await testTempDir(), 'out.mkv');
    const running = tools.runCommand(endless(output), runOptions({ signal: abort.signal }));
    running.catch(() => {});
    await waitUntil(() => programOf(programIn(pids[0])).startsWith('ffmpeg'));
    expect(readFileSync(`/proc/${programIn(pids[0])}/environ`, 'utf8')).not.toContain('SECRET_OF_THE_TEST');
    abort.abort('done');
    await expect(running).rejects.toBe('done');
  });
});

describe('a run that may be paused', () => {
  test('stands still while all are, which counts neither as stalled nor as time', async () => {
    const output = join(await testTempDir(), 'out.mkv');
    const { log, pids } = processLog();
    const tools = makeMediaTools(undefined, { log });
    const abort = new AbortController();
    let progress = 0;
    const limits = { ...ampleLimits, stallMs: 4_000 };
    const running = tools.runCommand(
      endless(output),
      runOptions({ isPausable: true, limits, signal: abort.signal, onProgress: () => progress++ }),
    );
    running.catch(() => {});
    await waitUntil(() => progress > 0, { what: 'progress' });
    tools.pauseAll();
    await waitUntil(() => processState(programIn(pids[0])) === 'T');
    const before = progress;
    const pausedAtMs = performance.now();
    await waitUntil(() => performance.now() - pausedAtMs > limits.stallMs + 200);
    expect(processState(programIn(pids[0]))).toBe('T');
    tools.resumeAll();
    await waitUntil(() => progress > before + 1);
    abort.abort('done');
    await expect(running).rejects.toBe('done');
  });

  test('that starts while all are paused does not run until they go on', async () => {
    const output = join(await testTempDir(), 'out.mp4');
    const { log, pids } = processLog();
    const tools = makeMediaTools(undefined, { log });
    tools.pauseAll();
    const running = tools.runCommand(
      commandOf([], await fixture('h264-aac'), ['-c', 'copy'], output),
      runOptions({ isPausable: true }),
    );
    await waitUntil(() => pids.length === 1 && processState(programIn(pids[0])) === 'T');
    await tools.runCommand(decode(await fixture('h264-aac')), runOptions());
    expect(tools.owner.running).toBe(1);
    tools.resumeAll();
    await running;
    expect((await stat(output)).size).toBeGreaterThan(0);
  });

  test('can be ended while it is paused', async () => {
    const output = join(await testTempDir(), 'out.mkv');
    const { log, pids } = processLog();
    const tools = makeMediaTools(undefined, { log });
    const abort = new AbortController();
    const options = { isPausable: true, signal: abort.signal };
    const running = [
      tools.runCommand(endless(output), runOptions(options)),
      tools.runCommand(endless(`${output}2`), runOptions({ isPausable: true })),
    ];
    for (const run of running) run.catch(() => {});
    await waitUntil(() => pids.length === 2);
    tools.pauseAll();
    await waitUntil(() => pids.every(pid => processState(programIn(pid)) === 'T'));
    abort.abort('cancelled');
    await expect(running[0]).rejects.toBe('cancelled');
    await tools.owner.stop();
    expect((await failureOf(running[1]!)).code).toBe('stopped');
  });
});

test('a run gives way to others, leaves no core file, and dies with the server that started it', async () => {
  const folder = await testTempDir();
  const room = new URL('../../', import.meta.url).href;
  const script = `
    import { makeMediaTools, ampleLimits } from '${room}test/support/media-tools.ts';
    const log = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, child(_, ids) { if (ids?.pid) console.log(ids.pid); return log; } };
    const endless = command => command.input('testsrc2=size=320x180:rate=30').inputOptions('-re', '-f', 'lavfi')
      .output(${JSON.stringify(join(folder, 'out.mkv'))}).outputOptions('-c:v', 'mpeg4', '-f', 'matroska');
    await makeMediaTools(undefined, { log, niceness: 10 }).runCommand(endless,
      { limits: ampleLimits, signal: new AbortController().signal, purpose: 'test', ids: {} });
  `;
  const server = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  let said = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const started = await waitUntil(() => Number(/\d+/.exec(said)?.[0] ?? 0) || undefined);
  await waitUntil(() => programOf(programIn(started)) === 'ffmpeg');
  const pid = programIn(started);
  await waitUntil(() => statSync(join(folder, 'out.mkv'), { throwIfNoEntry: false }) !== undefined, {});
  expect(getPriority(pid)).toBe(10);
  for (const thread of readdirSync(`/proc/${pid}/task`)) expect(getPriority(Number(thread))).toBe(10);
  expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/Max core file size +0 +0/);
  server.kill('SIGKILL');
  await waitUntil(() => [undefined, 'Z'].includes(processState(pid)));
});

test('a look into a file that takes too long is given up', async () => {
  const tools = makeMediaTools(undefined, { probeLimits: { ...ampleLimits, timeoutMs: 1 } });
  const failure = await failureOf(tools.probe(await fixture('streams-200'), never));
  expect([failure.code, failure.message]).toEqual(['process-failed', 'ffprobe took longer than 0.001 s']);
  expect(tools.owner.running).toBe(0);
});
