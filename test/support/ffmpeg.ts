import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { BuildVersionCache } from '../../src/ffmpeg/build/build-version-cache.ts';
import {
  embeddedFfmpeg,
  embeddedFfprobe,
  type FfmpegBuild,
  findFfmpeg,
  findFfprobe,
} from '../../src/ffmpeg/build/find-ffmpeg.ts';
import { knownPrograms } from './known-programs.ts';

const versions = await BuildVersionCache.read(process.env[knownPrograms] ?? '');

/** The build of 2018 that comes with the packages, for machines with nothing better. */
export const outdatedFfmpeg: string = embeddedFfmpeg.lastResort();
/** The ffprobe that comes with the packages. A distribution's takes fifty times as long to start, but this one cannot resolve names. */
export const embeddedFfprobePath: string = embeddedFfprobe.lastResort();

/** The one that the server uses. */
export const serverFfmpeg: FfmpegBuild = await findFfmpeg(undefined, process.env, versions);
/** The newest, which tests publish and read back with: the embedded one, where the server uses an older one of the distribution. */
export const ffmpegBuild: FfmpegBuild = await newestFfmpeg();
export const ffmpegPath: string = ffmpegBuild.path;
/** The ffprobe that tests read back with. */
export const ffprobePath: string = (await findFfprobe(undefined, process.env, versions)).path;

/** Builds that tests go through which must hold on all of them: all in the project `all-builds`, only the server's in others. */
export const buildCount: number = process.env.MILLRACE_TEST_BUILDS === 'all' ? Infinity : 1;

/** The server's and the oldest build, for tests that must hold on all of them (`describe.each`). */
export const ffmpegBuilds: readonly { readonly name: string; readonly path: string }[] = [
  ...(serverFfmpeg.isOutdated ? [] : [{ name: "server's", path: serverFfmpeg.path }]),
  { name: 'outdated', path: outdatedFfmpeg },
].slice(0, buildCount);

/** Options of the published test picture. Only `url` must be given. */
export interface TestPictureOptions {
  /** The destination, such as `rtmp://127.0.0.1:1935/s/KEY`. Use addresses: the outdated build cannot resolve names. */
  readonly url: string;
  /** Ends by itself after this; without it the picture runs until stopped. */
  readonly seconds?: number;
  /** Distance of keyframes. Default 2. */
  readonly gopSeconds?: number;
  /** Default 30. */
  readonly fps?: number;
  /** Default `320x180`. */
  readonly size?: string;
  /** Put before the URL, after the codecs, so they can override them (`['-an']`, `['-f', 'mpegts']`). */
  readonly extraArgs?: readonly string[];
  /** Path of the build to publish with. Default {@link ffmpegPath}. */
  readonly ffmpeg?: string;
}

/** Exit of a publisher. ffmpeg ends with 255 after SIGINT. */
export interface PublisherExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A publishing ffmpeg that belongs to a test. `await using` ends it with the scope. */
export interface Publisher {
  readonly pid: number | undefined;
  /** Resolves when the process is gone; never rejects. */
  readonly exited: Promise<PublisherExit>;
  /** Output so far (the last 64 KiB). */
  readonly stderr: string;
  /** Ends as Ctrl-C does, with a proper end of the RTMP stream; killed if it does not end within 5 s. */
  stop(): Promise<PublisherExit>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<PublisherExit>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Publishes a moving test picture (H.264) with a 440 Hz tone (AAC) in real time, over RTMP unless `extraArgs` say otherwise. */
export function publishTestPicture(options: TestPictureOptions): Publisher {
  const { fps = 30, size = '320x180', gopSeconds = 2 } = options;
  const gop = String(Math.max(1, Math.round(gopSeconds * fps)));
  return startPublisher(options.ffmpeg ?? ffmpegPath, [
    ...['-re', '-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${fps}`],
    ...['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'],
    ...(options.seconds === undefined ? [] : ['-t', String(options.seconds)]),
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-g', gop, '-keyint_min', gop, '-sc_threshold', '0', '-b:v', '500k'],
    // The default coder of AAC takes a third of the publisher's work.
    ...['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '64k', '-f', 'flv'],
    ...(options.extraArgs ?? []),
    options.url,
  ]);
}

/** Runs ffmpeg with arguments of the caller's own as a publisher; for sources that are no test picture. */
export function startPublisher(ffmpeg: string, args: readonly string[]): Publisher {
  // Runs without `-nostdin`, with which ffmpeg 7.0 ignores signals.
  const child = spawn(ffmpeg, ['-hide_banner', '-loglevel', 'info', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return own(child);
}

async function newestFfmpeg(): Promise<FfmpegBuild> {
  if (serverFfmpeg.canReadEnhancedFlv) return serverFfmpeg;
  const embedded = await findFfmpeg(undefined, {}, versions);
  return embedded.canReadEnhancedFlv ? embedded : serverFfmpeg;
}

/** Runs ffmpeg or ffprobe to its end and gives what it wrote to stdout. @throws Error with its stderr */
export async function runToEnd(path: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(path, args, { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** Runs the ffprobe that comes with the packages. It cannot resolve names, so that `localhost` becomes an address. */
export function ffprobe(args: readonly string[]): Promise<string> {
  return runToEnd(
    embeddedFfprobePath,
    args.map(arg => arg.replace('//localhost:', '//127.0.0.1:')),
  );
}

const running = new Set<ChildProcess>();
// A test runner that ends early must not leave a publisher behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function own(child: ChildProcess): Publisher {
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-64 * 1024);
  });

  const { promise: exited, resolve } = Promise.withResolvers<PublisherExit>();
  running.add(child);
  const finish = (exit: PublisherExit) => {
    running.delete(child);
    resolve(exit);
  };
  child.on('close', (code, signal) => finish({ code, signal }));
  child.on('error', error => {
    stderr += `${error.message}\n`;
    if (child.pid === undefined) finish({ code: null, signal: null });
  });

  const kill = () => {
    child.kill('SIGKILL');
    return exited;
  };
  const stop = async () => {
    child.kill('SIGINT');
    const timer = setTimeout(kill, 5000);
    try {
      return await exited;
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    pid: child.pid,
    exited,
    get stderr() {
      return stderr;
    },
    stop,
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
    },
  };
}
