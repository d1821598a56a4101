import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startServerProcess } from '../../scripts/server-process.ts';
import { uploadFile } from '../../scripts/upload-file.ts';
import { measureCommand, measuredEnd } from '../../src/ffmpeg/arguments/remux-commands.ts';
import { type ChildAccess, Isolation } from '../../src/ffmpeg/process/isolation.ts';
import { ProcessOwner } from '../../src/ffmpeg/process/owned-process.ts';
import { ProcessLimits } from '../../src/ffmpeg/process/process-limits.ts';
import { sandboxListenerAddress } from '../../src/ffmpeg/process/sandbox-listener.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { ffmpegPath, publishTestPicture, startPublisher } from '../support/ffmpeg.ts';
import { commandOf } from '../support/ffmpeg-command.ts';
import { fixture } from '../support/fixtures.ts';
import { ampleLimits, makeMediaTools, toolBuilds } from '../support/media-tools.ts';
import { ampleChildLimits, findTestIsolation } from '../support/process-limits.ts';
import { commandLines, descendantsOf, ffmpegsOf, isAlive } from '../support/processes.ts';
import { startRtspServer } from '../support/rtsp-server.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

/** A shell with the network and arithmetic built in. Only its own file is in the sandbox. */
const bash = '/bin/bash';
const folder = await makeTempDir();
afterAll(() => removeDir(folder));
const { limits, missing } = await findTestIsolation(folder);
if (missing !== undefined) console.log(`skipped: ${missing}`);

/** Runs a script as a child of the server, which returns what it says, and how it ended. */
async function runScript(
  script: string,
  access: ChildAccess = {},
  within: ProcessLimits = limits,
  onListener?: (listener: Server) => void,
) {
  const child = new ProcessOwner(within, silentLogger).start(bash, ['-c', script], {
    outputs: 0,
    hasStdout: true,
    limits: ampleChildLimits,
    access,
    ids: {},
    onListener,
  });
  let text = '';
  child
    .output(1)
    .setEncoding('utf8')
    .on('data', (piece: string) => {
      text += piece;
    });
  const { kind, code, signal, lastLines } = await child.exited;
  return { text, kind, code, signal, lastLines };
}

describe.skipIf(missing !== undefined)('a child that a file has taken over', () => {
  let secret: string;
  beforeAll(async () => {
    secret = join(folder, 'millrace.db');
    await writeFile(secret, 'the database');
  });

  test('reads no file but its inputs, and changes nothing but its outputs', async () => {
    const input = join(folder, '-the input\n of it.mp4');
    const output = join(folder, 'the output');
    await writeFile(input, 'the film');
    await writeFile(output, '');
    const script = `
      echo "$(<'${input}')" "$(<'${secret}')" "$(</etc/passwd)" "$(</etc/hostname)" ${folder}/* /
      echo written > '${output}'
      echo changed > '${input}'
      echo changed > '${secret}'
      echo new > '${folder}/new'
      echo new > /new`;
    const { text } = await runScript(script, { reads: [input], writes: [output] });
    expect(text.trim()).toBe(`the film    ${input} ${output} /`);
    expect(await readFile(input, 'utf8')).toBe('the film');
    expect(await readFile(secret, 'utf8')).toBe('the database');
    expect(await readFile(output, 'utf8')).toBe('written\n');
    await expect(readFile(join(folder, 'new'))).rejects.toThrow('ENOENT');
  });

  test('reaches no listener of this machine but its own', async () => {
    let connections = 0;
    const server = createServer(socket => {
      connections += 1;
      socket.end('hello\n');
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', resolve);
    onTestFinished(() => void server.close());
    await promise;
    const { port } = server.address() as { port: number };
    const script = `exec 5<>/dev/tcp/127.0.0.1/${port} && read -r line <&5 && echo "$line"`;
    expect((await runScript(script)).lastLines.join()).toMatch(/Connection refused|Network is unreachable/);
    expect(connections).toBe(0);
    const { host, port: ownPort } = sandboxListenerAddress;
    const ownScript = `exec 6<>/dev/tcp/${host}/${ownPort} && read -r line <&6 && echo "$line"; ${script}`;
    const { text, lastLines } = await runScript(`${ownScript}; echo $NODE_CHANNEL_FD`, {}, limits, listener =>
      listener.on('connection', socket => socket.end('its own\n', () => listener.close())),
    );
    expect(text).toBe('its own\n\n');
    expect(lastLines.join()).toMatch(/Connection refused/);
    expect(connections).toBe(0);
  });

  test('sees no other process, and no variable of the server', async () => {
    process.env.SECRET_OF_THE_TEST = 'x';
    onTestFinished(() => void delete process.env.SECRET_OF_THE_TEST);
    const own = await findTestIsolation(folder);
    const script = 'echo $$ /proc/[0-9]*; echo "$(</proc/self/environ)" "$(</proc/1/environ)"';
    const [pids, variables] = (await runScript(script, {}, own.limits)).text.split('\n');
    expect(pids).toBe('2 /proc/1 /proc/2');
    expect(variables).toContain('PATH=');
    expect(variables).not.toContain('SECRET_OF_THE_TEST');
  });

  test('starts a bounded number of processes', async () => {
    expect((await runScript('echo "$(</proc/self/limits)"')).text).toMatch(/^Max processes +4096 +4096 /m);
  });

  test('creates no namespaces of its own', async () => {
    const child = new ProcessOwner(limits, silentLogger).start('/usr/bin/unshare', ['--user', '/nothing'], {
      outputs: 0,
      limits: ampleChildLimits,
      ids: {},
    });
    expect((await child.exited).lastLines).toEqual([expect.stringMatching(/^unshare: unshare failed: /)]);
  });

  test('ends as it did without a sandbox: code, signal, and what it says', async () => {
    expect(await runScript('echo why >&2; exit 3')).toMatchObject({
      kind: 'failed',
      code: 3,
      lastLines: ['why'],
    });
    expect(await runScript('kill -SEGV $$')).toMatchObject({ kind: 'failed', code: null, signal: 'SIGSEGV' });
    expect(await runScript('kill -KILL $$')).toMatchObject({ signal: 'SIGKILL' });
  });

  test('ends when it is killed, also the part of it that ignores signals and has children', async () => {
    const owner = new ProcessOwner(limits, silentLogger);
    const script =
      'trap "" INT TERM; (trap "" INT TERM; while :; do :; done) & echo ready; while :; do :; done';
    const start = () =>
      owner.start(bash, ['-c', script], {
        outputs: 0,
        hasStdout: true,
        limits: ampleChildLimits,
        ids: {},
        niceness: 7,
      });
    for (const end of ['kill', 'stop'] as const) {
      const child = start();
      const ready = Promise.withResolvers<void>();
      child.output(1).once('data', () => ready.resolve());
      await ready.promise;
      const pids = descendantsOf(child.pid!);
      expect(pids.length).toBeGreaterThanOrEqual(3);
      await child[end]({ interruptAfterMs: 0, killAfterMs: 100 });
      await waitUntil(() => !pids.some(isAlive), { what: 'the end of all processes' });
    }
  });
});

const room = new URL('../../', import.meta.url).href;

/** A server that starts children and is killed after a time, while their sandboxes are made. */
const killedServer = `
  import { ampleChildLimits, makeProcessOwner } from '${room}test/support/process-limits.ts';
  const [mark, ms] = process.argv.slice(1);
  const owner = makeProcessOwner();
  for (let count = 0; count < 8; count += 1)
    owner.start('/bin/bash', ['-c', 'while :; do :; done', mark], {
      outputs: 0,
      hasStdout: true,
      limits: ampleChildLimits,
      ids: {},
      onListener: count % 2 === 0 ? () => {} : undefined,
    });
  const killAtMs = performance.now() + Number(ms);
  while (performance.now() < killAtMs);
  process.kill(process.pid, 'SIGKILL');
`;

test.skipIf(missing !== undefined).each([0, 4, 8, 16, 32, 64])(
  'of children whose sandbox is not finished when the server is killed after %s ms, none is left',
  async ms => {
    const mark = `mark-${process.pid}-${ms}`;
    const args = ['--input-type=module', '-e', killedServer, mark, String(ms)];
    await promisify(execFile)(process.execPath, args).catch(() => {});
    const left = () => commandLines().filter(words => words.includes(mark));
    await waitUntil(() => left().length === 0, { what: () => `the end of ${left().length} processes` });
  },
);

/** A server that is process 1, as in a container, and starts children. Prints the processes that are left. */
const firstProcess = `
  import { readdirSync, readFileSync } from 'node:fs';
  import { ampleChildLimits, makeProcessOwner } from '${room}test/support/process-limits.ts';
  const owner = makeProcessOwner();
  for (const end of ['exit 0', 'exit 3', 'kill -SEGV $$', 'while :; do :; done']) {
    const child = owner.start('/bin/bash', ['-c', end], { outputs: 0, hasStdout: true, limits: ampleChildLimits, ids: {} });
    child.output(1).resume();
    await (end.startsWith('while') ? child.kill() : child.exited);
  }
  const names = readdirSync('/proc').filter(name => Number(name) > 1).map(name => readFileSync('/proc/' + name + '/stat', 'utf8'));
  console.log(owner.limits.isIsolated, names.filter(text => text.includes(') Z ')));
  process.exit(0);
`;

test.skipIf(missing !== undefined || process.getuid?.() !== 0)(
  'no zombie is left to a server that is process 1',
  async () => {
    const { stdout } = await promisify(execFile)('unshare', [
      ...[
        '--pid',
        '--fork',
        '--mount-proc',
        '--kill-child',
        process.execPath,
        '--input-type=module',
        '-e',
        firstProcess,
      ],
    ]);
    expect(stdout).toBe('true []\n');
  },
);

test.skipIf(missing !== undefined)('a child that is killed while its sandbox is made is gone', async () => {
  const owner = new ProcessOwner(limits, silentLogger);
  for (let count = 0; count < 10; count += 1) {
    const mark = `killed-${process.pid}-${count}`;
    const child = owner.start(bash, ['-c', 'while :; do :; done', mark], {
      outputs: 0,
      hasStdout: true,
      limits: ampleChildLimits,
      ids: {},
    });
    await new Promise(resolve => setTimeout(resolve, count));
    expect((await child.kill()).kind).toBe('stopped');
    expect(commandLines().filter(words => words.includes(mark))).toEqual([]);
  }
});

test.skipIf(missing !== undefined)(
  'a child that was stopped while its sandbox is made can be killed',
  async () => {
    const child = new ProcessOwner(limits, silentLogger).start(bash, ['-c', 'read line'], {
      outputs: 0,
      limits: ampleChildLimits,
      ids: {},
    });
    process.kill(child.pid!, 'SIGSTOP');
    expect(await child.kill()).toMatchObject({ kind: 'stopped' });
  },
);

test('a child whose sandbox hangs is killed in the end, with what makes the sandbox', async () => {
  const place = await testTempDir();
  const bwrapPath = join(place, 'bwrap');
  const mark = String(100_000 + process.pid);
  await writeFile(bwrapPath, `#!/bin/sh\nsleep ${mark}\n`);
  await chmod(bwrapPath, 0o755);
  const variant = { isStrict: false, hasProc: false };
  const isolation = new Isolation({ bwrapPath, variant, dataDir: place, variables: process.env });
  const plain = await ProcessLimits.find(process.env, silentLogger);
  const child = new ProcessOwner(plain.within(isolation)!, silentLogger).start(bash, [], {
    outputs: 0,
    limits: ampleChildLimits,
    ids: {},
  });
  const helpers = () => commandLines().filter(words => words[0] === 'sleep' && words[1] === mark);
  await waitUntil(() => helpers().length > 0, { what: 'what makes the sandbox' });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const killed = child.kill();
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  expect(await killed).toMatchObject({ kind: 'stopped', signal: 'SIGKILL' });
  expect(helpers()).toEqual([]);
});

test.skipIf(missing !== undefined)('no child is granted the folder of its outputs', async () => {
  const work = await testTempDir();
  const options = { limits: ampleLimits, signal: new AbortController().signal, purpose: 'test', ids: {} };
  const segments = commandOf(
    [],
    await fixture('h264-only'),
    ['-c', 'copy', '-f', 'segment', '-segment_list', join(work, 'list.csv')],
    join(work, 'segment.%d.mp4'),
  );
  // The run may write them to a folder of the same name, which disappears with its sandbox.
  await makeMediaTools()
    .runCommand(segments, options)
    .catch(() => {});
  expect(await readdir(work)).not.toContain('segment.0.mp4');
  expect(await readdir(work)).not.toContain('list.csv');
});

describe.each(toolBuilds)('with the $name ffmpeg', builds => {
  test('the end of a video is measured without a file', async () => {
    const owner = new ProcessOwner(limits, silentLogger);
    let endSeconds: number | undefined;
    await makeMediaTools(builds, { owner }).runCommand(
      measureCommand(await fixture('h264-only'), 0, [], { leadSeconds: 0, isSteady: false }),
      {
        limits: ampleLimits,
        signal: new AbortController().signal,
        purpose: 'test',
        ids: {},
        onLine: line => {
          endSeconds = measuredEnd(line) ?? endSeconds;
        },
      },
    );
    expect(endSeconds).toBeGreaterThan(0);
  });
});

/** A camera that sends a test picture over RTSP. */
async function startCamera() {
  const server = await startRtspServer();
  const picture = ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25', '-c:v', 'libx264', '-g', '25'];
  const url = `rtsp://127.0.0.1:${server.port}/cam`;
  const recorder = startPublisher(ffmpegPath, [...picture, '-f', 'rtsp', '-rtsp_transport', 'tcp', url]);
  await waitUntil(() => server.sdp !== '', { what: 'the recorder' });
  return {
    server,
    url,
    [Symbol.asyncDispose]: async () => {
      await recorder[Symbol.asyncDispose]();
      server.stop();
    },
  };
}

async function isolationOf(server: TestServer): Promise<unknown> {
  return ((await (await server.api('GET', '/server')).json()) as { isolation: unknown }).isolation;
}

describe('a server', () => {
  const withPath = (path: string) => ({ variables: { ...process.env, PATH: path } });
  const required = { 'ffmpeg.isolation': 'required' };

  test.skipIf(missing !== undefined)('that is killed leaves no child', async () => {
    const dataDir = await testTempDir();
    const server = await startServerProcess({
      dataDir,
      env: {
        MILLRACE_FFMPEG_ISOLATION: 'required',
        MILLRACE_LIVE_PACKAGER: 'ffmpeg',
        MILLRACE_ALLOW_PRIVATE_TARGETS: 'true',
      },
    });
    onTestFinished(() => void server.child.kill('SIGKILL'));
    const { baseUrl, productionKey: apiKey } = server;
    const headers = { authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}` };
    const create = async (options: object) => {
      const body = JSON.stringify({ name: 'A stream', ...options });
      const answer = await fetch(`${baseUrl}/live-streams`, { method: 'POST', headers, body });
      return (await answer.json()) as { streamKey: string };
    };
    await using camera = await startCamera();
    await create({ source: { url: camera.url } });
    const { streamKey } = await create({});
    await using _publisher = publishTestPicture({
      url: `rtmp://127.0.0.1:${server.rtmpPort}/s/${streamKey}`,
    });
    await waitUntil(() => camera.server.players > 0, { what: 'the puller' });
    await waitUntil(() => ffmpegsOf(server.child.pid!).length > 1, { what: 'the packager' });
    const pids = descendantsOf(server.child.pid!);
    server.child.kill('SIGKILL');
    await waitUntil(() => !pids.some(isAlive), { what: 'the end of all children' });
  });

  test.skipIf(missing !== undefined)('reads media in the sandbox, and says so', async () => {
    // An unusual name, below a folder that all sandboxes can read.
    const place = process.getuid?.() === 0 ? '/usr/lib' : folder;
    const dataDir = join(await mkdtemp(join(place, 'millrace-test-')), '- data\n%d');
    onTestFinished(() => rm(join(dataDir, '..'), { recursive: true, force: true }));
    await mkdir(dataDir);
    await using server = await startServer(
      { ...required, 'live.qualities': 'ladder', 'encode.preset': 'ultrafast' },
      { dataDir, liveSteps: () => [{ name: '90p', width: 160, height: 90, bitsPerSecond: 300_000 }] },
    );
    expect(await isolationOf(server)).toEqual({ isActive: true });
    const { streamKey, liveStreamId } = await server.createStream();
    await using _publisher = publishTestPicture({ url: server.rtmpUrl(streamKey), gopSeconds: 1 });
    await waitUntil(
      async () => (await (await fetch(`${server.baseUrl}/${liveStreamId}.m3u8`)).text()).includes('90p'),
      { what: 'the rendition of the live stream' },
    );
    const { videoId } = (await (await server.api('POST', '/videos', { title: 'A film' })).json()) as {
      videoId: string;
    };
    await uploadFile({
      baseUrl: server.baseUrl,
      apiKey: server.productionKey,
      videoId,
      path: await fixture('hevc'),
      signal: new AbortController().signal,
      onProgress: () => {},
    });
    let status = '';
    await waitUntil(
      async () => {
        status = await (await server.api('GET', `/videos/${videoId}/status`)).text();
        return /"status":"encoded"/.test(status) && !/"status":"(waiting|encoding)"/.test(status);
      },
      { what: () => `the renditions: ${status}`, timeoutMs: encodeTimeoutMs },
    );
    const player = await fetch(`${server.baseUrl}/vod/${videoId}/hls/manifest.m3u8`);
    expect(await player.text()).toContain('#EXT-X-STREAM-INF');
  });

  test.skipIf(missing !== undefined)('pulls sources with an ffmpeg that has no network', async () => {
    await using server = await startServer({ ...required, allowPrivateTargets: 'true' });
    const origin = await server.createStream('Origin');
    await using _publisher = publishTestPicture({ url: server.rtmpUrl(origin.streamKey), gopSeconds: 1 });
    await using camera = await startCamera();
    const hls = `${server.baseUrl}/${origin.liveStreamId}.m3u8`;
    await waitUntil(async () => (await fetch(hls)).status === 200, { what: 'the origin' });
    const sources: string[] = [];
    for (const url of [hls, camera.url]) {
      const answer = await server.api('POST', '/live-streams', { name: 'A source', source: { url } });
      sources.push(((await answer.json()) as { liveStreamId: string }).liveStreamId);
    }
    for (const id of sources) {
      let source: { state: string } | undefined;
      await waitUntil(
        async () => {
          const answer = await server.api('GET', `/live-streams/${id}`);
          source = ((await answer.json()) as { source: { state: string } }).source;
          return source.state === 'live';
        },
        { what: () => `the source: ${JSON.stringify(source)}` },
      );
    }
    const pullers = ffmpegsOf(process.pid).filter(({ args }) => args.includes('-protocol_whitelist'));
    expect(pullers).toHaveLength(2);
    for (const { pid } of pullers) {
      expect(await readlink(`/proc/${pid}/ns/net`)).not.toBe(await readlink('/proc/self/ns/net'));
      const interfaces = (await readFile(`/proc/${pid}/net/dev`, 'utf8')).match(/^ *\S+(?=:)/gm);
      expect(interfaces?.map(name => name.trim())).toEqual(['lo']);
      const sockets = await readFile(`/proc/${pid}/net/tcp`, 'utf8');
      const listeners = [...sockets.matchAll(/: (\w+):(\w+) \w+:\w+ 0A /g)].map(([, , port]) =>
        Number.parseInt(port!, 16),
      );
      expect(listeners).toEqual([sandboxListenerAddress.port]);
    }
  });

  test('without bubblewrap says what to install, or does not start', async () => {
    const path = await testTempDir();
    const flags = { 'ffmpeg.path': ffmpegPath };
    const reason = /^bubblewrap is not installed: install it \(the package is called bubblewrap\), and see/;
    await using server = await startServer({ ...flags, 'ffmpeg.isolation': 'auto' }, withPath(path));
    expect(await isolationOf(server)).toEqual({ isActive: false, missing: expect.stringMatching(reason) });
    await expect(startServer({ ...flags, ...required }, withPath(path))).rejects.toMatchObject({
      code: 'isolation-unusable',
      message: expect.stringMatching(
        /^ffmpeg\.isolation: it is required, but bubblewrap is not installed: .* set MILLRACE_FFMPEG_ISOLATION=auto\.$/,
      ),
    });
  });

  test('with a bubblewrap that cannot work here says why, or does not start', async () => {
    const path = await testTempDir();
    const bwrap = join(path, 'bwrap');
    await writeFile(bwrap, '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2\nexit 1\n');
    await chmod(bwrap, 0o755);
    const found = `${path}:${process.env.PATH}`;
    await using server = await startServer({ 'ffmpeg.isolation': 'auto' }, withPath(found));
    expect(await isolationOf(server)).toEqual({
      isActive: false,
      missing: `${bwrap} cannot run it here (bwrap: No permissions to create new namespace): see "Isolation" in docs/operating.md`,
    });
    await expect(startServer(required, withPath(found))).rejects.toMatchObject({
      code: 'isolation-unusable',
    });
  });

  test('can be told to use none', async () => {
    await using server = await startServer({ 'ffmpeg.isolation': 'off' });
    expect(await isolationOf(server)).toEqual({
      isActive: false,
      missing: 'it is turned off by the setting ffmpeg.isolation',
    });
  });
});
