import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ffmpegPath } from './ffmpeg.ts';

/** Bits of the number that each frame shows, as black and white blocks. */
const counterBits = 12;
const [columns, rows] = [16, 9];
const toneHz = 440;
const audioRate = 48_000;
/** The frequency of the sound rises by so much in a second, so that every moment has its own. */
const risePerSecond = 200;
const windowSamples = 2_048;

/** Input options of ffmpeg for moving frames that show their number from 0 on. */
export function countedVideo({ size = '160x90', rate = '25', seconds = 30 } = {}): string[] {
  const blocks = Array.from({ length: counterBits }, (_, bit) => {
    const box = `drawbox=x=iw*${bit}/${columns}:y=0:w=iw/${columns}:h=ih/${rows}:t=fill`;
    return `${box}:c=black,${box}:c=white:enable='mod(floor(n/${2 ** bit})\\,2)'`;
  });
  return ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=${rate}:d=${seconds},${blocks.join(',')}`];
}

/** Input options of ffmpeg for a tone that tells its time. */
export function countedAudio({ seconds = 30, channels = 1 } = {}): string[] {
  const tone = `0.4*sin(2*PI*t*(${toneHz}+${risePerSecond / 2}*t))`;
  const all = Array.from({ length: channels }, () => tone).join('|');
  return ['-f', 'lavfi', '-i', `aevalsrc='${all}':s=${audioRate}:d=${seconds}`];
}

function run(input: string, args: readonly string[]): Promise<{ stdout: Buffer; stderr: Buffer }> {
  return promisify(execFile)(
    ffmpegPath,
    ['-hide_banner', '-nostdin', '-loglevel', 'error', '-i', input, ...args, '-'],
    { encoding: 'buffer', maxBuffer: 2 ** 30 },
  );
}

async function decode(input: string, args: readonly string[]): Promise<Buffer> {
  const { stdout, stderr } = await run(input, args);
  if (stderr.length > 0) throw new Error(`ffmpeg complains of ${input}: ${stderr.toString()}`);
  return stdout;
}

function counterOutput(stream: string): string[] {
  const filters = [
    `crop=iw*${counterBits}/${columns}:ih/${rows}:0:0`,
    `scale=${counterBits}:1:flags=area`,
    'format=gray',
  ];
  return ['-map', stream, '-vf', filters.join(','), '-vsync', 'passthrough', '-f', 'rawvideo'];
}

/** The numbers that frames of a file or address show, in the order that they are shown in. */
export async function readCounters(input: string, stream = '0:v:0'): Promise<number[]> {
  return countersIn(await decode(input, counterOutput(stream)));
}

/** The same with the time of the first frame, all of one run. */
export async function readTimedCounters(
  input: string,
): Promise<{ counters: number[]; startSeconds: number }> {
  const first = ['-map', '0:v:0', '-frames:v', '1', '-enc_time_base', '1:90000', '-vsync', 'passthrough'];
  // Beside the numbers, by stderr: whatever else is told there is a complaint.
  const args = [...first, '-copyts', '-f', 'framemd5', 'pipe:2', ...counterOutput('0:v:0')];
  const { stdout, stderr } = await run(input, args);
  const lines = stderr.toString().trim().split('\n');
  const [frame = '', ...others] = lines.filter(line => !line.startsWith('#'));
  const [, ticks] = /^0, +-?\d+, +(-?\d+), +\d+, +\d+, [0-9a-f]{32}$/.exec(frame) ?? [];
  if (ticks === undefined || others.length > 0) throw new Error(`ffmpeg complains of ${input}: ${stderr}`);
  return { counters: countersIn(stdout), startSeconds: Number(ticks) / 90_000 };
}

function countersIn(bytes: Buffer): number[] {
  const counters: number[] = [];
  for (let at = 0; at < bytes.length; at += counterBits) {
    const bits = [...bytes.subarray(at, at + counterBits)];
    counters.push(bits.reduce((number, level, bit) => number + (level > 127 ? 2 ** bit : 0), 0));
  }
  return counters;
}

/** The times that the sound tells at some times of a file or address, in seconds. */
export async function readToneSeconds(
  input: string,
  times: readonly number[],
  stream = '0:a:0',
): Promise<number[]> {
  // Filled up with silence where the audio begins late, and cut where it begins before the video.
  const filter = `aresample=${audioRate}:async=1:first_pts=0`;
  const samples = await decode(input, ['-map', stream, '-af', filter, '-ac', '1', '-f', 's16le']);
  return times.map(at => toneSecondsAt(samples, Math.round(at * audioRate)));
}

function toneSecondsAt(samples: Buffer, first: number): number {
  const window = Array.from({ length: windowSamples }, (_, index) =>
    samples.readInt16LE(2 * (first + index)),
  );
  const crossings: number[] = [];
  for (let index = 1; index < window.length; index += 1) {
    const [before, after] = [window[index - 1]!, window[index]!];
    if (before < 0 && after >= 0) crossings.push(index - after / (after - before));
  }
  const cycles = crossings.length - 1;
  const samplesOfCycles = crossings.at(-1)! - crossings[0]!;
  const middle = (crossings.at(-1)! + crossings[0]!) / 2;
  const frequency = (cycles * audioRate) / samplesOfCycles;
  return (frequency - toneHz) / risePerSecond - middle / audioRate;
}
