import { type ChildProcess, spawn } from 'node:child_process';

/** An encoder that is publishing. */
export interface Publisher {
  /** Resolves when it has ended, of itself or not. */
  readonly exited: Promise<void>;
  /** Ends it as Ctrl-C does. */
  stop(): Promise<void>;
}

/** Has ffmpeg make a file, in place of one that is there. @throws Error when it fails; what it said stands on the terminal */
export async function runFfmpeg(
  ffmpegPath: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const child = start(ffmpegPath, ['-y', ...args]);
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  try {
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once('exit', resolve).once('error', reject),
    );
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`ffmpeg (${ffmpegPath}) ended with ${code}.`);
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

const maxStopMs = 3_000;

/** Has ffmpeg publish to an address over RTMP until it is stopped. @param args its inputs and codecs */
export function startPublisher(ffmpegPath: string, args: readonly string[], address: string): Publisher {
  const child = start(ffmpegPath, [...args, '-f', 'flv', address]);
  const exited = new Promise<void>(resolve =>
    child.once('exit', () => resolve()).once('error', () => resolve()),
  );
  return {
    exited,
    stop: async () => {
      child.kill('SIGINT');
      // FFmpeg 7.0 may go on after the first signal.
      const timer = setTimeout(() => child.kill('SIGKILL'), maxStopMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Starts ffmpeg in its own group: the caller passes Ctrl-C on, in the order in which it ends programs. */
function start(ffmpegPath: string, args: readonly string[]): ChildProcess {
  return spawn(ffmpegPath, ['-hide_banner', '-nostdin', '-loglevel', 'error', ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
}
