import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  liveEncodeArguments,
  liveEncodeLeadSeconds,
} from '../../src/ffmpeg/arguments/live-encode-arguments.ts';
import { sandboxOverlay } from '../../src/ffmpeg/arguments/sandbox-watermark.ts';
import { matroskaFrameHeader, matroskaVideoHeader } from '../../src/media/matroska/video-writer.ts';
import { ffmpegBuilds, ffmpegPath } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

const picture = { width: 320, height: 180 };
const mark = sandboxOverlay(picture);
const frameMs = 40;
const framesEach = 10;
/** A plain picture has no such differences. */
const leastContrast = 30;
const unit = { configuration: 7, pictureConfiguration: 8, delimiter: 9, keyframe: 5 };

let folder: string;
beforeAll(async () => {
  folder = await makeTempDir();
});
afterAll(() => removeDir(folder));

describe.each(ffmpegBuilds)('the mark of the sandbox, made with the $name ffmpeg', ({ name, path }) => {
  test('stays where the picture changes its size or format and no configuration says so', () => {
    const plain = encodePlain('320x180', 'yuv420p');
    for (const other of [encodePlain('400x226', 'yuv420p'), encodePlain('320x180', 'yuv444p')]) {
      expect(contrasts([...plain, ...other], 0)).toEqual(allMarked(2 * framesEach));
    }
  });

  test('is on pictures that are shown before the first instant', () => {
    expect(contrasts(encodePlain('320x180', 'yuv420p'), -5000)).toEqual(allMarked(framesEach));
  });

  /** Tells for each frame that comes out whether it has the mark. */
  function contrasts(frames: readonly Buffer[][], shownLaterMs: number): boolean[] {
    const fromSeconds = (shownLaterMs - frameMs / 2) / 1000;
    const rung = { name: 'source', ...picture, bitsPerSecond: 1_000_000, fromSeconds };
    const order = {
      ...picture,
      renditions: [rung],
      overlay: mark,
      frameDivisor: 1,
      threads: 1,
      maxPixels: 1e7,
    };
    const { output } = spawnSync(path, liveEncodeArguments(order), {
      input: matroskaOf(frames, shownLaterMs),
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
      maxBuffer: 1e7,
    });
    const luma = decodedLuma(output[3] as unknown as Buffer);
    const size = picture.width * picture.height;
    return Array.from({ length: luma.length / size }, (_, index) =>
      isMarked(luma.subarray(index * size, (index + 1) * size)),
    );
  }

  function decodedLuma(mp4: Buffer): Buffer {
    const args = ['-loglevel', 'error', '-f', 'mp4', '-i', 'pipe:0', '-vsync', 'passthrough'];
    return run(ffmpegPath, [...args, '-f', 'rawvideo', '-pix_fmt', 'gray', 'pipe:1'], mp4);
  }

  /** NAL units of each frame, with a keyframe in front that brings its own configuration. */
  function encodePlain(size: string, format: string): Buffer[][] {
    const file = join(folder, `${name}-${size}-${format}.h264`);
    const input = ['-loglevel', 'error', '-y', '-f', 'lavfi', '-i', `color=gray:s=${size}:r=25`];
    const options = 'repeat-headers=1:aud=1:bframes=0:scenecut=0';
    const codec = ['-pix_fmt', format, '-c:v', 'libx264', '-x264-params', options];
    run(ffmpegPath, [...input, '-frames:v', String(framesEach), ...codec, file]);
    const frames: Buffer[][] = [];
    for (const nal of unitsOf(
      run(ffmpegPath, ['-loglevel', 'error', '-i', file, '-c', 'copy', '-f', 'h264', '-']),
    )) {
      if (typeOf(nal) === unit.delimiter) frames.push([]);
      else frames.at(-1)!.push(nal);
    }
    return frames;
  }
});

function allMarked(count: number): boolean[] {
  return Array.from({ length: count }, () => true);
}

function isMarked(luma: Buffer): boolean {
  const seen = new Set<number>();
  for (let y = mark.y; y < mark.y + mark.height; y += 1) {
    for (let x = mark.x; x < mark.x + mark.width; x += 1) seen.add(luma[y * picture.width + x]!);
  }
  return Math.max(...seen) - Math.min(...seen) > leastContrast;
}

function run(path: string, args: readonly string[], input?: Buffer): Buffer {
  const { stdout, stderr, status } = spawnSync(path, args, { input, maxBuffer: 1e8 });
  if (status !== 0) throw new Error(stderr.toString());
  return stdout;
}

/** ITU-T H.264 annex B: units between start codes. */
function unitsOf(stream: Buffer): Buffer[] {
  const starts: number[] = [];
  const code = Buffer.from([0, 0, 1]);
  for (let at = stream.indexOf(code); at >= 0; at = stream.indexOf(code, at + 3)) starts.push(at + 3);
  return starts.map((start, index) => {
    let end = index + 1 < starts.length ? starts[index + 1]! - 3 : stream.length;
    while (stream[end - 1] === 0) end -= 1;
    return stream.subarray(start, end);
  });
}

function typeOf(nal: Buffer): number {
  return nal[0]! & 0x1f;
}

/** Configuration of the first frame only; what comes with others is inside of them. */
function matroskaOf(frames: readonly Buffer[][], shownLaterMs: number): Buffer {
  const config = frames[0]!.find(nal => typeOf(nal) === unit.configuration)!;
  const pictureConfig = frames[0]!.find(nal => typeOf(nal) === unit.pictureConfiguration)!;
  const [high, low] = [config.length >> 8, config.length & 0xff];
  const head = [1, config[1]!, config[2]!, config[3]!, 0xff, 0xe1, high, low];
  const record = [Buffer.from(head), config, Buffer.from([1, 0, pictureConfig.length]), pictureConfig];
  const clusters = frames.flatMap((nals, index) => {
    const timeMs = liveEncodeLeadSeconds * 1000 + index * frameMs + shownLaterMs;
    const isKeyframe = nals.some(nal => typeOf(nal) === unit.keyframe);
    const data = Buffer.concat(nals.flatMap(nal => [lengthOf(nal), nal]));
    return [matroskaFrameHeader(timeMs, isKeyframe, data.length), data];
  });
  const header = matroskaVideoHeader({ codec: 'avc1', record: Buffer.concat(record), ...picture });
  return Buffer.concat([header, ...clusters]);
}

function lengthOf(nal: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(nal.length);
  return length;
}
