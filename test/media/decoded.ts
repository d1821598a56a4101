import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ffmpegPath } from '../support/ffmpeg.ts';

/** A decoded video frame. */
export interface DecodedFrame {
  readonly seconds: number;
  readonly hash: string;
}

/** Decodes the video of a file or address, every frame as it is coded, with the times of the input. */
export async function decodeVideo(
  input: string,
  inputOptions: readonly string[] = [],
  outputOptions: readonly string[] = [],
): Promise<DecodedFrame[]> {
  const output = ['-map', '0:v:0', ...outputOptions, '-vsync', 'passthrough', '-f', 'framemd5', '-'];
  const text = (await run(input, output, inputOptions)).toString();
  const [, numerator = '1', denominator = '1'] = /^#tb 0: (\d+)\/(\d+)$/m.exec(text) ?? [];
  const tick = Number(numerator) / Number(denominator);
  return text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.split(',').map(field => field.trim()))
    .map(([, , pts, , , hash = '']) => ({ seconds: Number(pts) * tick, hash }));
}

/** Decodes the sound of a file or address to 16 bit samples of all channels. */
export function decodeAudio(input: string): Promise<Buffer> {
  return run(input, ['-map', '0:a:0', '-f', 's16le', '-']);
}

async function run(
  input: string,
  output: readonly string[],
  inputOptions: readonly string[] = [],
): Promise<Buffer> {
  const args = [
    '-hide_banner',
    '-nostdin',
    '-loglevel',
    'error',
    '-copyts',
    ...inputOptions,
    '-i',
    input,
    ...output,
  ];
  const { stdout, stderr } = await promisify(execFile)(ffmpegPath, args, {
    encoding: 'buffer',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (stderr.length > 0) throw new Error(`ffmpeg complains of ${input}: ${stderr.toString()}`);
  return stdout;
}
