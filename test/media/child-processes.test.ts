import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createLiveStream,
  createVideo,
  type ServerProcess,
  startServerProcess,
} from '../../scripts/server-process.ts';
import { uploadFile } from '../../scripts/upload-file.ts';
import { type Publisher, publishTestPicture } from '../support/ffmpeg.ts';
import { fixture } from '../support/fixtures.ts';
import { descendantsOf, ffmpegsOf, hasProc, isAlive, type ProcessInfo } from '../support/processes.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

if (!hasProc) console.log('skipped: processes are looked up in /proc, which only Linux has');

/** Kinds of children by what stands on their command lines. */
const kinds: readonly (readonly [kind: string, sign: (args: string) => boolean])[] = [
  ['live encoder', args => args.includes('-force_key_frames source')],
  ['packager', args => args.includes('frag_every_frame') && args.includes('-c:v copy')],
  ['encode', args => args.includes('-progress') && args.includes('libx264')],
];

function kindOf({ args }: ProcessInfo): string | undefined {
  return kinds.find(([, sign]) => sign(args.join(' ')))?.[0];
}

describe.skipIf(!hasProc)('the child processes of a server', () => {
  let folder: string;
  let server: ServerProcess;
  const publishers: Publisher[] = [];
  const seen = new Map<string, ProcessInfo>();

  function look(): void {
    for (const child of ffmpegsOf(server.child.pid!)) {
      const kind = kindOf(child);
      if (kind !== undefined) seen.set(kind, child);
    }
  }

  beforeAll(async () => {
    folder = await makeTempDir();
    server = await startServerProcess({
      dataDir: folder,
      env: {
        MILLRACE_ADMIN_PASSWORD: 'a password that nobody may read',
        MILLRACE_METRICS_TOKEN: 'a token that nobody may read',
        MILLRACE_LIVE_ENCODER_MEMORY: '1GiB',
        MILLRACE_LIVE_PACKAGER: 'ffmpeg',
        SOME_SECRET_OF_THE_OPERATOR: 'x',
      },
    });
    const { baseUrl, sandboxKey, productionKey, rtmpPort } = server;
    const stream = await createLiveStream(baseUrl, sandboxKey, 'source');
    const url = `rtmp://127.0.0.1:${rtmpPort}/s/${stream.streamKey}`;
    publishers.push(publishTestPicture({ url, size: '160x90' }));
    const video = await createVideo(baseUrl, productionKey, { title: 'a film' });
    await uploadFile({
      baseUrl,
      apiKey: productionKey,
      videoId: video.videoId,
      path: await fixture('h264-720p'),
      signal: new AbortController().signal,
      onProgress: () => {},
    });
  });
  afterAll(async () => {
    await Promise.all(publishers.map(publisher => publisher.kill()));
    server.child.kill('SIGKILL');
    await server.exited;
    await removeDir(folder);
  });

  test('have limits of memory and processor time and a minimal environment', async () => {
    await waitUntil(
      () => {
        look();
        return seen.size === kinds.length;
      },
      { everyMs: 20, what: 'a child of each kind' },
    );
    const limitsOf = (kind: string) => {
      const { limits } = seen.get(kind)!;
      return [limits['Max data size'], limits['Max file size']];
    };
    expect(limitsOf('packager')).toEqual([String(512 * 2 ** 20), '0']);
    expect(limitsOf('live encoder')).toEqual([String(2 ** 30), '0']);
    expect(limitsOf('encode')).toEqual([String(8 * 2 ** 30), expect.stringMatching(/^\d+$/)]);
    for (const [kind, { limits, variables }] of seen) {
      expect([kind, limits['Max cpu time']]).toEqual([kind, expect.stringMatching(/^\d+$/)]);
      expect([kind, limits['Max core file size']]).toEqual([kind, '0']);
      const allowed = /^(PATH|PWD|OLDPWD|SHLVL|_|TMPDIR|TZ|LANG|LANGUAGE|LC_\w+|LD_LIBRARY_PATH|MALLOC_\w+)$/;
      expect([kind, variables.filter(name => !allowed.test(name))]).toEqual([kind, []]);
    }
  });

  test('end with it when it is killed', async () => {
    const children = descendantsOf(server.child.pid!);
    expect(children.length).toBeGreaterThanOrEqual(3);
    server.child.kill('SIGKILL');
    await server.exited;
    await waitUntil(() => !children.some(isAlive), { what: 'the end of all children' });
  });
});

const room = new URL('../../src/', import.meta.url).href;

/** A server that starts two children, one of which ends by itself, and is killed; prints the pids. */
const killedServer = `
  import { ProcessOwner } from '${room}ffmpeg/process/owned-process.ts';
  import { ProcessLimits } from '${room}ffmpeg/process/process-limits.ts';
  import { silentLogger } from '${room}shared/logger.ts';
  const owner = new ProcessOwner(new ProcessLimits({ shell: '/bin/sh', setpriv: undefined }, {}, silentLogger), silentLogger);
  const limits = { memoryBytes: 2 ** 30, cpuSeconds: 60, outputBytes: 0 };
  const start = seconds => owner.start('/bin/sleep', [seconds], { outputs: 0, hasStdout: true, limits, ids: {} });
  await start('0').exited;
  const { pid } = start('1000');
  console.log(pid);
  process.kill(process.pid, 'SIGKILL');
`;

test.skipIf(!hasProc)('where the kernel cannot end children with their server, a shell does', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    killedServer,
  ]).catch((error: { stdout: string }) => error);
  const pid = Number(stdout.trim());
  expect(pid).toBeGreaterThan(1);
  await waitUntil(() => !isAlive(pid), { what: 'the end of the child' });
});
