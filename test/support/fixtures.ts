import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ffmpegPath, runToEnd } from './ffmpeg.ts';

interface Recipe {
  /** Ending of the file's name, with its dot. */
  readonly extension: string;
  /** Arguments of ffmpeg, without the output. */
  readonly args?: readonly string[];
  /** Makes the file out of `from`'s, or out of nothing. */
  readonly make?: (source: Buffer) => Buffer;
  readonly from?: string;
}

const seconds = { normal: 6, short: 3 };

function picture(options: { size?: string; rate?: number; seconds?: number } = {}): readonly string[] {
  const { size = '320x180', rate = 30 } = options;
  return [
    '-f',
    'lavfi',
    '-i',
    `testsrc2=size=${size}:rate=${rate}:duration=${options.seconds ?? seconds.normal}`,
  ];
}

function tone(options: { rate?: number; seconds?: number } = {}): readonly string[] {
  const { rate = 48_000 } = options;
  return [
    '-f',
    'lavfi',
    '-i',
    `sine=frequency=440:sample_rate=${rate}:duration=${options.seconds ?? seconds.normal}`,
  ];
}

/** Two B-frames between others, a keyframe every `gop` frames and nowhere else. */
function h264(gop = 60, pixelFormat = 'yuv420p'): readonly string[] {
  return [
    ...['-c:v', 'libx264', '-preset', 'superfast', '-crf', '28', '-pix_fmt', pixelFormat, '-bf', '2'],
    ...['-g', String(gop), '-keyint_min', String(gop), '-sc_threshold', '0'],
  ];
}

/** The default coder takes half of the work of making a file. */
const fastAac: readonly string[] = ['-c:a', 'aac', '-aac_coder', 'fast'];
const aac: readonly string[] = [...fastAac, '-b:a', '64k'];
const fragmented: readonly string[] = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof'];

const recipes = {
  'h264-aac': { extension: '.mp4', args: [...picture(), ...tone(), ...h264(), ...aac] },
  'h264-aac-faststart': {
    extension: '.mp4',
    args: [...picture(), ...tone(), ...h264(), ...aac, '-movflags', '+faststart'],
  },
  'h264-mp3': { extension: '.mp4', args: [...picture(), ...tone(), ...h264(), '-c:a', 'libmp3lame'] },
  'h264-aac-mkv': { extension: '.mkv', args: [...picture(), ...tone(), ...h264(), ...aac] },
  'h264-aac-ts': { extension: '.ts', args: [...picture(), ...tone(), ...h264(), ...aac] },
  'h264-aac-flv': { extension: '.flv', args: [...picture(), ...tone(), ...h264(), ...aac] },
  'h264-long-gop': {
    extension: '.mp4',
    args: [...picture({ rate: 5, seconds: 30 }), ...tone({ seconds: 30 }), ...h264(1000), ...aac],
  },
  'h264-720p': {
    extension: '.mp4',
    args: [...picture({ size: '1280x720', seconds: 12 }), ...tone({ seconds: 12 }), ...h264(), ...aac],
  },
  'h264-only': { extension: '.mp4', args: [...picture(), ...h264()] },
  'audio-only': { extension: '.m4a', args: [...tone(), ...aac] },
  'audio-mp3': { extension: '.mp3', args: [...tone(), '-c:a', 'libmp3lame'] },
  hevc: {
    extension: '.mp4',
    args: [
      ...picture({ seconds: seconds.short }),
      ...tone({ seconds: seconds.short }),
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-tag:v', 'hvc1'],
      ...['-x265-params', 'log-level=error:keyint=60'],
      ...aac,
    ],
  },
  'not-video': { extension: '.mp4', make: () => noise(64 * 1024) },
  truncated: { extension: '.mp4', from: 'h264-aac', make: truncate },
  'truncated-faststart': { extension: '.mp4', from: 'h264-aac-faststart', make: truncate },
  'one-pixel': {
    extension: '.mkv',
    args: [
      ...picture({ rate: 10, seconds: 1 }),
      ...['-vf', 'format=rgb24,crop=1:1', '-c:v', 'ffv1', '-pix_fmt', 'bgr0'],
    ],
  },
  vfr: {
    extension: '.mp4',
    args: [
      ...picture(),
      ...tone(),
      // Frames 0, 2, 3, 5, 7 and 10 of each fifteen: from 33 to 167 ms apart.
      ...['-vf', `select='not(mod(n,5))+eq(mod(n,15),2)+eq(mod(n,15),3)+eq(mod(n,15),7)'`, '-vsync', 'vfr'],
      ...h264(20),
      ...aac,
    ],
  },
  rotated: { extension: '.mp4', from: 'h264-aac', make: rotate },
  hdr: {
    extension: '.mp4',
    args: [
      ...picture({ seconds: 2 }),
      ...tone({ seconds: 2 }),
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1'],
      '-x265-params',
      'log-level=error:keyint=60:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:range=limited',
      ...['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'],
      ...aac,
    ],
  },
  'odd-size': {
    extension: '.mp4',
    args: [
      ...picture({ seconds: seconds.short }),
      ...tone({ seconds: seconds.short }),
      ...['-vf', 'format=yuv444p,pad=321:181'],
      ...h264(60, 'yuv444p'),
      ...aac,
    ],
  },
  'streams-200': {
    extension: '.mkv',
    args: [
      ...picture({ seconds: 1 }),
      ...tone({ rate: 8_000, seconds: 1 }),
      ...['-map', '0:v', ...Array.from({ length: 200 }, () => ['-map', '1:a']).flat()],
      ...h264(),
      ...['-c:a', 'pcm_s16le'],
    ],
  },
  'zero-duration': { extension: '.mp4', from: 'fragmented-mp4', make: headerOnly },
  'single-frame': { extension: '.mp4', args: [...picture({ seconds: 1 }), '-frames:v', '1', ...h264()] },
  'hls-playlist': {
    extension: '.m3u8',
    make: () =>
      Buffer.from(
        `${['#EXTM3U', '#EXT-X-VERSION:3', '#EXT-X-TARGETDURATION:10', '#EXTINF:10,', 'file:///etc/passwd'].join('\n')}
#EXTINF:10,\nhttp://127.0.0.1:1/segment.ts\n#EXT-X-ENDLIST\n`,
      ),
  },
  'concat-script': {
    extension: '.ffconcat',
    make: () => Buffer.from("ffconcat version 1.0\nfile '/etc/passwd'\nduration 10\n"),
  },
  interlaced: {
    extension: '.mp4',
    args: [
      ...picture({ rate: 50, seconds: seconds.short }),
      ...tone({ seconds: seconds.short }),
      ...['-vf', 'tinterlace=interleave_top,setfield=tff'],
      ...h264(50),
      ...['-flags', '+ildct+ilme', '-x264-params', 'tff=1'],
      ...aac,
    ],
  },
  anamorphic: {
    extension: '.mp4',
    args: [
      ...picture({ seconds: seconds.short }),
      ...tone({ seconds: seconds.short }),
      ...['-vf', 'setsar=4/3', ...h264(), ...aac],
    ],
  },
  portrait: {
    extension: '.mp4',
    args: [
      ...picture({ size: '180x320', seconds: seconds.short }),
      ...tone({ seconds: seconds.short }),
      ...h264(),
      ...aac,
    ],
  },
  'edit-list': {
    extension: '.mp4',
    // The picture begins at 1 s and the sound at 1.5 s.
    args: [
      ...picture({ seconds: seconds.short }),
      ...['-itsoffset', '0.5', ...tone({ seconds: seconds.short })],
      ...[...h264(), ...aac, '-output_ts_offset', '1'],
    ],
  },
  'fragmented-mp4': { extension: '.mp4', args: [...picture(), ...tone(), ...h264(), ...aac, ...fragmented] },
  'high-rate': {
    extension: '.mp4',
    args: [
      ...picture({ rate: 100, seconds: seconds.short }),
      ...tone({ seconds: seconds.short }),
      ...h264(200),
      ...aac,
    ],
  },
  'two-keyframes-irregular': {
    extension: '.mp4',
    args: [
      ...[...picture({ seconds: 8 }), ...tone({ seconds: 8 })],
      ...[...h264(1000), '-keyint_min', '1', '-force_key_frames', '0,0.5,3.5,4.3,6.5'],
      ...aac,
    ],
  },
  'mono-8khz': {
    extension: '.mp4',
    args: [
      ...picture({ seconds: seconds.short }),
      ...tone({ rate: 8_000, seconds: seconds.short }),
      ...[...h264(), ...fastAac, '-b:a', '16k'],
    ],
  },
  surround: {
    extension: '.mp4',
    args: [
      ...picture({ seconds: seconds.short }),
      ...tone({ seconds: seconds.short }),
      ...['-af', 'pan=5.1|c0=c0|c1=c0|c2=c0|c3=c0|c4=c0|c5=c0', ...h264()],
      ...[...fastAac, '-b:a', '256k'],
    ],
  },
} as const satisfies Record<string, Recipe>;

/** A small synthetic media file: what is in it is said by its recipe above, and checked by `test/media/ffmpeg-tools.test.ts`. */
export type FixtureName = keyof typeof recipes;

/** Names of all fixtures. */
export const fixtureNames = Object.keys(recipes) as readonly FixtureName[];

const pendingFixtures = new Map<FixtureName, Promise<string>>();

/**
 * Path of a fixture; made at its first use and kept in the system's folder for temporary files, under a name that changes with its
 * recipe. It is shared by all tests and never written to: copy it first.
 */
export function fixture(name: FixtureName): Promise<string> {
  let path = pendingFixtures.get(name);
  if (path === undefined) {
    path = cached(name);
    pendingFixtures.set(name, path);
    path.catch(() => pendingFixtures.delete(name));
  }
  return path;
}

/** Makes a fixture as `folder/NAME.EXTENSION`; its path. */
export async function makeFixture(name: FixtureName, folder: string): Promise<string> {
  const path = join(folder, name + recipes[name].extension);
  await build(name, path);
  return path;
}

async function cached(name: FixtureName): Promise<string> {
  const folder = join(tmpdir(), `millrace-fixtures-${process.getuid?.() ?? 0}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}-${digest(name)}${recipes[name].extension}`);
  try {
    await stat(path);
  } catch {
    await build(name, path);
  }
  return path;
}

/** Beside first, because another test file may look for it at the same time. */
async function build(name: FixtureName, path: string): Promise<void> {
  const recipe: Recipe = recipes[name];
  const beside = join(path, `../.${randomUUID()}${recipe.extension}`);
  try {
    if (recipe.make === undefined) {
      await runToEnd(ffmpegPath, [
        ...['-hide_banner', '-nostdin', '-loglevel', 'error', ...(recipe.args ?? [])],
        ...['-fflags', '+bitexact', '-flags:v', '+bitexact', '-flags:a', '+bitexact', '-y', beside],
      ]);
    } else {
      const source =
        recipe.from === undefined
          ? Buffer.alloc(0)
          : await readFile(await fixture(recipe.from as FixtureName));
      await writeFile(beside, recipe.make(source));
    }
    await rename(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}

function digest(name: FixtureName): string {
  const recipe: Recipe = recipes[name];
  const parts = [
    recipe.args?.join('\n'),
    recipe.make?.toString(),
    recipe.from === undefined ? '' : digest(recipe.from as FixtureName),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).update(ffmpegPath).digest('hex').slice(0, 8);
}

function truncate(source: Buffer): Buffer {
  return source.subarray(0, Math.floor(source.length * 0.6));
}

/** The same bytes every time, without any structure. */
function noise(bytes: number): Buffer {
  const blocks = Array.from({ length: bytes / 32 }, (_, index) =>
    createHash('sha256').update(`noise ${index}`).digest(),
  );
  return Buffer.concat(blocks);
}

/** Writes a quarter turn clockwise into the first track's header. */
function rotate(source: Buffer): Buffer {
  const copy = Buffer.from(source);
  // Version 0: from the type on, 44 bytes before the matrix (ISO/IEC 14496-12 8.3.2).
  const matrixAt = copy.indexOf('tkhd') + 44;
  const matrix = [0, 1, 0, -1, 0, 0, 180, 0, 0x4000];
  for (const [index, value] of matrix.entries()) {
    // 16.16 fixed point, but for the third column with 2.30.
    copy.writeInt32BE(value * 0x10000, matrixAt + index * 4);
  }
  return copy;
}

function headerOnly(source: Buffer): Buffer {
  return source.subarray(0, source.indexOf('moof') - 4);
}
