import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

/** A player that runs as a process, without a screen or loudspeakers. It ends by itself at the end of what it plays. */
export interface NativePlayer {
  readonly name: string;
  /** Undefined where it is installed. */
  readonly missing: string | undefined;
  start(url: string): RunningPlayer;
}

/** A player at work. */
export interface RunningPlayer {
  /** Exit code, or the signal that ended it; undefined while it runs. */
  readonly exit: number | string | undefined;
  /** The end of what it said. */
  readonly output: string;
  kill(): void;
}

/** Players that tests know. */
export const nativePlayers: readonly NativePlayer[] = [
  player('ffmpeg', 'ffmpeg', url => ['-nostdin', '-loglevel', 'warning', '-i', url, '-f', 'null', '-']),
  player('mpv', 'mpv', url => ['--no-config', '--vo=null', '--ao=null', url]),
  player('vlc', 'vlc', url => [
    ...['-I', 'dummy', '--vout', 'dummy', '--aout', 'dummy', '--play-and-exit', url],
  ]),
  // playbin takes hlsdemux, playbin3 hlsdemux2.
  player('gstreamer-hlsdemux', 'gst-launch-1.0', url => gstArguments('playbin', url), 'hlsdemux'),
  player('gstreamer-hlsdemux2', 'gst-launch-1.0', url => gstArguments('playbin3', url), 'hlsdemux2'),
];

function gstArguments(bin: string, url: string): string[] {
  return [bin, `uri=${url}`, 'video-sink=fakesink sync=true', 'audio-sink=fakesink sync=true'];
}

function player(
  name: string,
  program: string,
  argumentsFor: (url: string) => string[],
  element?: string,
): NativePlayer {
  return {
    name,
    missing: whyMissing(program, element),
    start: url => run(program, argumentsFor(url)),
  };
}

function whyMissing(program: string, element: string | undefined): string | undefined {
  const isHere = (command: string, args: string[]) => spawnSync(command, args).status === 0;
  if (!isHere('sh', ['-c', `command -v ${program}`])) return `${program} is not installed`;
  if (element === undefined) return undefined;
  // Elements that the players need: they decode with FFmpeg.
  const elements = [element, 'avdec_h264', 'avdec_aac'];
  const lacking = elements.find(each => !isHere('gst-inspect-1.0', ['--exists', each]));
  return lacking === undefined ? undefined : `GStreamer has no ${lacking}`;
}

const running = new Set<ChildProcess>();
// A test runner that ends early must not leave a player behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

function run(program: string, args: readonly string[]): RunningPlayer {
  // VLC refuses to run as root.
  const isRootsVlc = program === 'vlc' && process.getuid?.() === 0;
  const nobody = ['--reuid=65534', '--regid=65534', '--clear-groups', program];
  const child = isRootsVlc
    ? spawn('setpriv', [...nobody, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: environment() })
    : spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment() });
  running.add(child);
  let output = '';
  let exit: number | string | undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4096);
    });
  }
  child.on('error', error => {
    exit = error.message;
  });
  child.on('exit', (code, signal) => {
    running.delete(child);
    exit = code ?? signal ?? 'unknown';
  });
  return {
    get exit() {
      return exit;
    },
    get output() {
      return output;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/** Environment without a session bus or a home, so that nothing is remembered. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: '/nonexistent', GST_REGISTRY_FORK: 'no' };
}
