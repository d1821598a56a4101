import { describe, expect, test } from 'vitest';
import { encodeCommand } from '../../../../src/ffmpeg/arguments/encode-command.ts';
import type {
  EncodedAudio,
  EncodedVideo,
  EncodeOptions,
} from '../../../../src/ffmpeg/arguments/encode-options.ts';
import { mp4Command, remuxCommand } from '../../../../src/ffmpeg/arguments/remux-commands.ts';
import { argumentsOf } from '../../../support/ffmpeg-command.ts';

const rungs = [
  { name: '240p', width: 426, height: 240, bitsPerSecond: 400_000 },
  { name: '360p', width: 640, height: 360, bitsPerSecond: 800_000 },
];
const film: EncodedVideo = {
  index: 3,
  width: 640,
  height: 360,
  isInterlaced: false,
  toneMapFrom: undefined,
  isTooFast: false,
  framesPerSecond: 30,
  renditions: rungs,
  keyframesAtSeconds: 'every-two',
  overlays: [],
};

const stereo: EncodedAudio = {
  name: 'audio',
  index: 5,
  channels: 2,
  isSurround: false,
  untilSeconds: undefined,
};

function args(video: Partial<EncodedVideo> | undefined, order: Partial<EncodeOptions> = {}): string[] {
  return argumentsOf(
    encodeCommand({
      source: '/media/-source',
      folder: '/media/hls-1',
      video: video === undefined ? undefined : { ...film, ...video },
      audio: [stereo],
      timedBy: [3, 5],
      clip: undefined,
      preset: 'veryfast',
      threads: 4,
      ...order,
    }),
  );
}

function valuesOf(list: readonly string[], option: string): (string | undefined)[] {
  return list.flatMap((arg, index) => (arg === option ? [list[index + 1]] : []));
}

function graphOf(video: Partial<EncodedVideo>): string[] {
  return (valuesOf(args(video), '-filter_complex')[0] ?? '').split(';');
}

describe('one run', () => {
  test('writes a file for each rung and one for the sound, all beginning at ten seconds', () => {
    const list = args({});
    expect(list.filter(arg => arg.startsWith('file:'))).toEqual([
      ...['file:/media/-source', 'file:/media/hls-1/240p.mp4', 'file:/media/hls-1/360p.mp4'],
      'file:/media/hls-1/audio.mp4',
    ]);
    expect(valuesOf(list, '-output_ts_offset')).toEqual(['10', '10', '10']);
    expect(valuesOf(list, '-map')).toEqual(['[r0]', '[r1]', '0:5']);
    expect(valuesOf(list, '-maxrate')).toEqual(['400000', '800000']);
  });

  test('writes each audio track, and 5.1 beside its stereo', () => {
    const audio = [
      stereo,
      { ...stereo, name: 'audio2', index: 6, channels: 6, untilSeconds: 2 },
      { ...stereo, name: 'surround2', index: 6, channels: 6, isSurround: true },
    ];
    const list = args(undefined, { audio, timedBy: [3, 5, 6] });
    expect(valuesOf(list, '-map')).toEqual(['0:5', '0:6', '0:6', '0:3']);
    expect(valuesOf(list, '-ac')).toEqual(['2', '2', '6']);
    expect(valuesOf(list, '-b:a')).toEqual(['128k', '128k', '384k']);
    const [plain, padded, surround] = valuesOf(list, '-af');
    expect(padded).toBe(`${plain},apad=whole_len=96000`);
    expect(surround).toBe(`${plain},aformat=channel_layouts=5.1`);
    expect(list.filter(arg => arg.startsWith('file:/media/hls-1/'))).toEqual([
      ...['file:/media/hls-1/audio.mp4', 'file:/media/hls-1/audio2.mp4', 'file:/media/hls-1/surround2.mp4'],
    ]);
  });

  test('reads along what sets the time and is not encoded', () => {
    const list = args({}, { audio: [] });
    expect(list.slice(-7)).toEqual(['-map', '0:5', '-c', 'copy', '-f', 'null', '-']);
    expect(args(undefined).slice(-7)).toEqual(['-map', '0:3', '-c', 'copy', '-f', 'null', '-']);
    expect(args({})).not.toContain('null');
  });

  test('reads a part of the source from a bit earlier on, and leaves that out', () => {
    const far = args({}, { clip: { startSeconds: 61.5, durationSeconds: 2 } });
    const before = far.slice(0, far.indexOf('-i'));
    expect([valuesOf(before, '-ss'), valuesOf(before, '-t')]).toEqual([['41.499000'], ['22.000000']]);
    expect(valuesOf(far, '-filter_complex')[0]).toContain(
      '[0:3]trim=start=20.000000,setpts=PTS-20.000000/TB,',
    );
    expect(valuesOf(far, '-af')[0]).toContain('atrim=start=20.000000,asetpts=PTS-20.000000/TB,');
    const near = args({}, { clip: { startSeconds: 1.5, durationSeconds: undefined } });
    expect([near.includes('-ss'), near.includes('-t')]).toEqual([false, false]);
    expect(valuesOf(near, '-af')[0]).toContain('atrim=start=1.499000,');
    expect(valuesOf(args({}, { clip: { startSeconds: 0, durationSeconds: 30 } }), '-t')).toEqual([
      '29.999000',
    ]);
  });

  test('keyframes of a day at an even distance are named by a rule', () => {
    const even = Array.from({ length: 21_600 }, (_, index) => index * 4.004);
    const [text] = valuesOf(args({ keyframesAtSeconds: even }), '-force_key_frames');
    expect(text).toBe('expr:gte(t,n_forced*4.004000000-0.008)');
    const half = Array.from({ length: 12_600 }, (_, index) => index * 4.2 + (index % 2));
    const [list = ''] = valuesOf(args({ keyframesAtSeconds: half }), '-force_key_frames');
    expect(list.split(',')).toHaveLength(12_600);
  });

  test("tells the level of each rung, whatever rate the encoder takes for the film's", () => {
    const sizes = [
      { name: '240p', width: 426, height: 240, bitsPerSecond: 1 },
      { name: '720p', width: 1280, height: 720, bitsPerSecond: 1 },
      { name: '1080p', width: 1920, height: 1080, bitsPerSecond: 1 },
      { name: '2160p', width: 3840, height: 2160, bitsPerSecond: 1 },
      { name: 'long', width: 4096, height: 16, bitsPerSecond: 1 },
    ];
    const at = (framesPerSecond: number | undefined) =>
      valuesOf(args({ renditions: sizes, framesPerSecond }), '-level:v');
    expect(at(25)).toEqual(['2.1', '3.1', '4.0', '5.1', '4.0']);
    expect(at(60)).toEqual(['3.0', '3.2', '4.2', '5.2', '4.0']);
    expect(at(undefined)).toEqual(at(60));
  });

  test('stays below what Linux takes in one argument for films of a day', () => {
    const keyframes = Array.from({ length: 21_600 }, (_, index) => index * 4.0001);
    for (const arg of args({ keyframesAtSeconds: keyframes })) expect(arg.length).toBeLessThan(128 * 1024);
  });
});

describe('keyframes', () => {
  test('are asked for a bit before the instants, less than half of a frame', () => {
    const wanted = [0, 4, 8.5041, 3600];
    const [text = ''] = valuesOf(args({ keyframesAtSeconds: wanted }), '-force_key_frames');
    const asked = text.split(',').map(Number);
    expect(asked).toHaveLength(wanted.length);
    for (const [index, at] of asked.entries()) {
      expect(at).toBeLessThanOrEqual(wanted[index]!);
      expect(at).toBeGreaterThan(wanted[index]! - 1 / 60);
    }
  });

  test('come by a rule in all rungs where nothing is asked for', () => {
    const [every, ...others] = valuesOf(args({}), '-force_key_frames');
    expect(every).toMatch(/^expr:/);
    expect(others).toEqual([every]);
    expect(valuesOf(args({ keyframesAtSeconds: [] }), '-force_key_frames')).toEqual([every, every]);
  });
});

describe('the picture', () => {
  test('is scaled to each rung, of square pixels', () => {
    const [, split, ...scaled] = graphOf({});
    expect(split).toBe('[base0]split=2[s0][s1]');
    expect(scaled).toEqual([
      expect.stringMatching(/^\[s0\]scale=w='if\(.*,426,.*,pad=426:240:.*setsar=1,format=yuv420p\[r0\]$/),
      expect.stringMatching(/^\[s1\]scale=w='if\(.*,640,.*,pad=640:360:.*setsar=1,format=yuv420p\[r1\]$/),
    ]);
  });

  test('is made progressive and slow enough first', () => {
    expect(graphOf({ isInterlaced: true, isTooFast: true })[0]).toBe(
      "[0:3]yadif=deint=interlaced,select='isnan(prev_selected_t)+gt(floor(t*60+0.05),floor(prev_selected_t*60+0.05))'[base0]",
    );
  });

  test('of an unknown frame rate loses frames only where they are too near to each other', () => {
    expect(graphOf({ framesPerSecond: undefined })[0]).toMatch(
      /^\[0:3\]select='isnan\(prev_selected_t\)\+gte\(/,
    );
  });

  test('gets images in pixels of the whole', () => {
    const overlay = { path: '/media/watermark', x: 5, y: 7, width: 20, height: 10, opacity: 0.25 };
    const list = args({ overlays: [overlay] });
    expect(valuesOf(list, '-i')).toEqual(['file:/media/-source', 'file:/media/watermark']);
    expect(graphOf({ overlays: [overlay] }).slice(0, 4)).toEqual([
      expect.stringMatching(/^\[0:3\]select='gt\(t,-7200\)',scale=.*,pad=640:360:.*,setsar=1\[base0\]$/),
      '[1:v]setpts=-7200/TB,format=rgba,scale=20:10,colorchannelmixer=aa=0.2500[mark0]',
      '[base0][mark0]overlay=x=5:y=7[base1]',
      '[base1]split=2[s0][s1]',
    ]);
  });

  test('of a high dynamic range is made smaller before it is mapped', () => {
    const [chain] = graphOf({ toneMapFrom: 'smpte2084', width: 8192, height: 4608 });
    expect(chain).toMatch(/^\[0:3\]scale=.*,pad=640:360:.*,zscale=tin=smpte2084:/);
    expect(chain).toContain('tonemap=');
  });
});

describe('copies', () => {
  test('a remux takes the chosen tracks, and the time of all', () => {
    const order = { source: '/s', output: '/o', timedBy: [0, 2] };
    expect(
      valuesOf(argumentsOf(remuxCommand({ ...order, videoIndex: 0, audio: [{ index: 2 }] })), '-map'),
    ).toEqual(['0:0', '0:2']);
    const alone = argumentsOf(remuxCommand({ ...order, videoIndex: 0, audio: [] }));
    expect(valuesOf(alone, '-map')).toEqual(['0:0', '0:2']);
    expect(alone.indexOf('file:/o')).toBeLessThan(alone.lastIndexOf('-map'));
    expect(alone.at(-1)).toBe('-');
  });

  test('the mp4 begins with the earliest of its tracks', () => {
    const list = argumentsOf(
      mp4Command({
        video: { path: '/v', index: 0, startSeconds: 10 },
        audio: [{ path: '/a', index: 1, startSeconds: 1.4 }],
        output: '/o',
      }),
    );
    expect(valuesOf(list, '-itsoffset')).toEqual(['-10.000000', '-1.400000']);
    expect(valuesOf(list, '-map')).toEqual(['0:0', '1:1']);
    expect(list.at(-1)).toBe('file:/o');
  });

  test('have the names of several audio tracks, of which the first is the default', () => {
    const list = argumentsOf(
      mp4Command({
        video: { path: '/v', index: 0, startSeconds: 10 },
        audio: [
          { path: '/a', index: 0, startSeconds: 10, language: 'pt-BR', title: 'Original' },
          { path: '/b', index: 0, startSeconds: 10 },
        ],
        output: '/o',
      }),
    );
    expect(valuesOf(list, '-metadata:s:a:0')).toEqual(['language=por', 'title=Original']);
    expect(valuesOf(list, '-metadata:s:a:1')).toEqual(['language=und']);
    expect([valuesOf(list, '-disposition:a:0'), valuesOf(list, '-disposition:a:1')]).toEqual([
      ['default'],
      ['0'],
    ]);
  });
});

describe('another codec', () => {
  test('HEVC has hvc1, closed GOPs and the bitrate limit of each rendition', () => {
    const list = args({ framesPerSecond: 29.97 }, { codec: 'hevc' });
    expect(valuesOf(list, '-c:v')).toEqual(['libx265', 'libx265']);
    expect(valuesOf(list, '-tag:v')).toEqual(['hvc1', 'hvc1']);
    expect(valuesOf(list, '-maxrate')).toEqual(['400000', '800000']);
    expect(valuesOf(list, '-bufsize')).toEqual(['800000', '1600000']);
    expect(valuesOf(list, '-x265-params')[0]).toBe(
      'fps=29.97:pools=4:min-keyint=1:scenecut=0:open-gop=0:log-level=warning',
    );
    expect(list).not.toContain('-sc_threshold');
  });

  test('AV1 has the preset of about the same place, and a plausible frame rate', () => {
    const list = args({ framesPerSecond: undefined }, { codec: 'av1', preset: 'medium' });
    expect(valuesOf(list, '-c:v')).toEqual(['libsvtav1', 'libsvtav1']);
    expect(valuesOf(list, '-preset')).toEqual(['7', '7']);
    expect(valuesOf(list, '-maxrate')).toEqual(['320000', '640000']);
    expect(valuesOf(list, '-svtav1-params')[0]).toBe(
      'fps-num=30000:fps-denom=1000:enable-force-key-frames=1:lp=4',
    );
    expect(valuesOf(args({ framesPerSecond: 240 }, { codec: 'av1' }), '-svtav1-params')[0]).toContain(
      'fps-num=60000',
    );
  });

  test('keeps the keyframes of H.264', () => {
    for (const codec of [undefined, 'hevc', 'av1'] as const) {
      const list = args({ keyframesAtSeconds: [0, 2, 4.5] }, { codec });
      expect(valuesOf(list, '-force_key_frames')).toEqual(['0,1.99,4.49', '0,1.99,4.49']);
    }
  });
});
