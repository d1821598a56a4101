import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { TranscriptsStore } from '../../src/resources/videos/videos/transcripts/transcripts.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { AppError } from '../../src/shared/errors.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { type FixtureName, fixture } from '../support/fixtures.ts';
import { makeMediaTools } from '../support/media-tools.ts';
import { runSql } from '../support/sql.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { startVodPipeline, type VodPipeline } from '../support/vod-pipeline.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makeFilm } from './vod-server-fixture.ts';

let dataDir: string;
let shop: VodPipeline;
let longFilm: string;

beforeAll(async () => {
  dataDir = await makeTempDir();
  [shop, longFilm] = await Promise.all([
    startVodPipeline(dataDir, { hasImages: false }),
    makeLongFilm(dataDir),
  ]);
});
afterAll(async () => {
  await shop.stop();
  await removeDir(dataDir);
});

const empty = { renditions: [] } as unknown as Awaited<ReturnType<VodPipeline['settled']>>;

/** 24 seconds that take some to encode, in a codec that HLS does not carry. */
async function makeLongFilm(folder: string): Promise<string> {
  const path = join(folder, 'film.mp4');
  await runToEnd(ffmpegPath, [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=360x360:rate=15:duration=24'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000:duration=24'],
    ...['-c:v', 'mpeg4', '-b:v', '1M', '-c:a', 'aac', '-aac_coder', 'fast', path],
  ]);
  return path;
}

/** Statuses as `type quality status`. */
function summary(state: Awaited<ReturnType<VodPipeline['settled']>>): string[] {
  return state.renditions.map(({ type, quality, status }) => `${type} ${quality} ${status}`);
}

// One after the other: MP4 files wait until no other video waits for its encode.
describe('what becomes of a file', () => {
  test.each<[FixtureName, string[]]>([
    ['h264-aac', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['h264-aac-faststart', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['h264-mp3', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['h264-aac-mkv', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['h264-aac-ts', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['h264-aac-flv', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['h264-long-gop', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['h264-only', ['hls 240p encoded', 'mp4 240p encoded']],
    ['audio-only', ['audio audio encoded']],
    ['audio-mp3', ['audio audio encoded']],
    ['hevc', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['one-pixel', ['hls 240p encoded', 'mp4 240p encoded']],
    ['vfr', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['rotated', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['hdr', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['odd-size', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    [
      'streams-200',
      [
        ...['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded'],
        ...Array.from({ length: 15 }, (_, index) => `audio audio${index + 2} encoded`),
      ],
    ],
    ['single-frame', ['hls 240p encoded', 'mp4 240p encoded']],
    ['interlaced', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['anamorphic', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['portrait', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['edit-list', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['fragmented-mp4', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['high-rate', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['two-keyframes-irregular', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['mono-8khz', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['surround', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded', 'audio surround encoded']],
    ['truncated-faststart', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
  ])('%s', async (name, expected) => {
    const state = await shop.settled(await shop.add(await fixture(name)));
    expect([state.failure, ...summary(state)]).toEqual([undefined, ...expected]);
    expect(state.isPlayable).toBe(true);
  });

  test.each<[FixtureName]>([
    ['not-video'],
    ['truncated'],
    ['zero-duration'],
    ['hls-playlist'],
    ['concat-script'],
  ])('%s is refused with a sentence', async name => {
    const state = await shop.settled(await shop.add(await fixture(name)));
    expect(state.failure).toMatch(/^[A-Z].*\.$/);
    expect(state.isPlayable).toBe(false);
    expect(state.renditions.filter(({ status }) => status !== 'failed')).toEqual([]);
  });
});

test('captions that are requested while the job of the ones before ends have a job of their own', async () => {
  const { database, works, jobs } = shop;
  const videoId = await shop.add(await fixture('audio-only'));
  await shop.settled(videoId);
  const transcripts = new TranscriptsStore(database, new Outbox(database, silentLogger), systemClock);
  const added = await database.transaction(async transaction => {
    await jobs.add({ kind: 'transcribe', subjectId: videoId }, transaction);
    await transaction.run(
      transaction.queries
        .updateTable('jobs')
        .set({ state: 'running', lease_until_ms: Number.MAX_SAFE_INTEGER })
        .where('subject_id', '=', videoId),
    );
    expect(await transcripts.request(videoId, transaction)).toBe(true);
    await works.transcribePrepared(videoId, transaction);
    const rows = await transaction.all(
      transaction.queries.selectFrom('jobs').select('state').where('subject_id', '=', videoId),
    );
    await jobs.remove(videoId, transaction);
    return rows.map(({ state }) => state);
  });
  expect(added.toSorted()).toEqual(['running', 'waiting']);
});

/** Text of a playlist. */
async function playlist(of: VodPipeline, videoId: string, rendition: string): Promise<string> {
  return (await of.playback.mediaPlaylist(videoId, rendition))?.text.plain.toString() ?? '';
}

async function bytesOf(of: VodPipeline, videoId: string, rendition: string, name: string): Promise<Buffer> {
  const body = await of.playback.media(videoId, rendition, name);
  const pieces = await Promise.all(
    (body?.parts ?? []).map(async piece => {
      if (!('path' in piece)) return piece;
      const bytes = await readFile(piece.path);
      return bytes.subarray(piece.start, piece.start + piece.length);
    }),
  );
  return Buffer.concat(pieces);
}

function segmentNames(text: string): string[] {
  return text.split('\n').filter(line => line.endsWith('.m4s'));
}

test.each([
  ['mp4', ['-c:a', 'aac'], 'carried'],
  ['mkv', ['-c:a', 'mp2'], 'encoded'],
])('the audio of an %s file, %s, has the language of its track', async (extension, codec) => {
  const path = join(await testTempDir(), `german.${extension}`);
  await runToEnd(ffmpegPath, [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=160x120:rate=10:duration=1'],
    ...['-f', 'lavfi', '-i', 'sine=sample_rate=48000:duration=1', '-pix_fmt', 'yuv420p'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', ...codec, '-metadata:s:a:0', 'language=ger', path],
  ]);
  const videoId = await shop.add(path);
  expect(summary(await shop.settled(videoId))).toContain('audio audio encoded');
  const multivariant = (await shop.playback.multivariant(videoId, []))?.plain.toString();
  expect(multivariant).toContain('TYPE=AUDIO,GROUP-ID="audio",NAME="Main",LANGUAGE="de"');
  const [, name = ''] = /URI="(init-[^"]+)"/.exec(await playlist(shop, videoId, 'audio')) ?? [];
  const init = await bytesOf(shop, videoId, 'audio', name);
  const packed = init.readUInt16BE(init.indexOf('mdhd') + 24);
  expect(packed).toBe([...Buffer.from('ger')].reduce((code, letter) => code * 32 + letter - 0x60, 0));
});

describe('while a film is encoded', () => {
  test('it is shown as it grows, and what was shown stays as it was', async () => {
    const videoId = await shop.add(longFilm);
    const growing = await waitUntil(
      async () => {
        const text = await playlist(shop, videoId, '240p');
        return segmentNames(text).length > 0 && !text.includes('EXT-X-ENDLIST') ? text : undefined;
      },
      { what: 'a playlist that grows', everyMs: 10 },
    );
    expect(growing).toContain('#EXT-X-PLAYLIST-TYPE:EVENT');
    expect(await shop.playback.isPlayable(videoId)).toBe(true);
    const multivariant = (await shop.playback.multivariant(videoId, []))?.plain.toString();
    expect(multivariant).toContain('240p/manifest.m3u8');
    expect(multivariant).not.toContain('360p');
    const [first = ''] = segmentNames(growing);
    const before = await bytesOf(shop, videoId, '240p', first);
    expect(before.length).toBeGreaterThan(0);

    const state = await shop.settled(videoId);
    expect(summary(state)).toEqual([
      'hls 240p encoded',
      'hls 360p encoded',
      'mp4 360p encoded',
      'audio audio encoded',
    ]);
    const complete = await playlist(shop, videoId, '240p');
    expect(complete).toContain('#EXT-X-PLAYLIST-TYPE:VOD');
    expect(complete.endsWith('#EXT-X-ENDLIST\n')).toBe(true);
    expect(segmentNames(complete)[0]).toBe(first);
    expect((await bytesOf(shop, videoId, '240p', first)).equals(before)).toBe(true);
    const target = /TARGETDURATION:\d+/;
    expect(target.exec(complete)?.[0]).toBe(target.exec(growing)?.[0]);
    expect(segmentNames(await playlist(shop, videoId, '360p'))).toHaveLength(segmentNames(complete).length);
    const events = await shop.events();
    expect(
      events
        .filter(({ payload }) => payload.videoId === videoId)
        .map(({ payload }) => `${payload.encoding} ${payload.quality}`),
    ).toEqual(['hls 240p', 'hls 360p', 'mp4 360p']);
  });

  test('a stop in the middle loses only what was not finished, and leaves no files of it', async () => {
    const ownDir = await testTempDir();
    const first = await startVodPipeline(ownDir, { hasImages: false });
    const videoId = await first.add(longFilm);
    await waitUntil(
      async () => summary((await first.records.state(videoId)) ?? empty).includes('hls 240p encoded'),
      { what: 'the lowest rung' },
    );
    const segments = segmentNames(await playlist(first, videoId, '240p'));
    await first.stop();

    const second = await startVodPipeline(ownDir, { hasImages: false });
    try {
      expect(await second.playback.isPlayable(videoId)).toBe(true);
      const state = await second.settled(videoId);
      expect(new Set(state.renditions.map(({ status }) => status))).toEqual(new Set(['encoded']));
      expect(segmentNames(await playlist(second, videoId, '240p'))).toEqual(segments);
      const used = new Set(state.renditions.map(({ file }) => file?.split('/')[0]));
      const names = await readdir(second.files.video(videoId));
      expect(names.filter(name => name.startsWith('hls-')).every(name => used.has(name))).toBe(true);
    } finally {
      await second.stop();
    }
  });

  test('removing the video ends the work and leaves nothing', async () => {
    const videoId = await shop.add(longFilm);
    await waitUntil(() => shop.playback.isPlayable(videoId), {
      what: 'something to play',
    });
    await runSql(shop.database, 'DELETE FROM videos WHERE id = ?', videoId);
    await shop.works.removeVideo(videoId);
    await expect(readdir(shop.files.video(videoId))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await shop.playback.isPlayable(videoId)).toBe(false);
    expect(await shop.playback.multivariant(videoId, [])).toBeUndefined();
  });
});

test('a plain MP4 is not looked into with ffprobe, whatever is made of it', async () => {
  const folder = await testTempDir();
  const film = join(folder, 'film.mp4');
  await makeFilm(film, { seconds: 1, size: '360x360', codec: 'libx264' });
  const purposes = new Set<string>();
  const tools = makeMediaTools(undefined, { observer: { runEnded: purpose => purposes.add(purpose) } });
  const own = await startVodPipeline(folder, { context: { tools } });
  expect(summary(await own.settled(await own.add(film)))).toEqual([
    'hls 240p encoded',
    'hls 360p encoded',
    'mp4 360p encoded',
    'audio audio encoded',
  ]);
  expect([...purposes].toSorted()).toEqual(['encode', 'frame', 'mp4', 'storyboard']);
  await own.stop();
});

describe('what its owner wants', () => {
  test('a clip is what is between its ends, to the frame', async () => {
    const state = await shop.settled(
      await shop.add(await fixture('h264-aac'), { clip_start_ms: 1_500, clip_end_ms: 3_500 }),
    );
    expect(summary(state)).toEqual(['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']);
    const [video] = state.renditions.map(
      ({ renditionMetadata }) => renditionMetadata as { durationSeconds: number },
    );
    expect(video?.durationSeconds).toBeCloseTo(2, 1);
  });

  test('a clip that begins behind the end is refused', async () => {
    const state = await shop.settled(await shop.add(await fixture('h264-aac'), { clip_start_ms: 60_000 }));
    expect(state.failure).toBe('The clip begins after the end of the source.');
  });

  test('no mp4, then one after all', async () => {
    const videoId = await shop.add(await fixture('h264-aac'), { has_mp4_support: 0 });
    expect(summary(await shop.settled(videoId))).toEqual(['hls 240p encoded', 'audio audio encoded']);
    expect(await shop.playback.file(videoId, 'mp4')).toBeUndefined();
    await shop.setMp4Support(videoId, true);
    expect(summary(await shop.settled(videoId))).toContain('mp4 240p encoded');
    expect((await shop.playback.file(videoId, 'mp4'))?.bytes).toBeGreaterThan(1_000);
    await shop.setMp4Support(videoId, false);
    expect(await shop.playback.file(videoId, 'mp4')).toBeUndefined();
  });
});

describe('other codecs', () => {
  test('are encoded after H.264, with the same segments, and one fails without the others', async () => {
    const folder = await testTempDir();
    const tools = makeMediaTools();
    let isHevcBroken = false;
    const codecShop = await startVodPipeline(folder, {
      codecs: ['hevc', 'av1'],
      hasImages: false,
      context: {
        tools: {
          probe: (...options) => tools.probe(...options),
          sizeOfImage: (...options) => tools.sizeOfImage(...options),
          runCommand: async (build, options) => {
            // Only additional codecs have a niceness of their own, and HEVC is the first of them.
            if (isHevcBroken && options.niceness !== undefined) {
              isHevcBroken = false;
              throw new AppError('media-refused', 'No HEVC today.');
            }
            await tools.runCommand(build, options);
          },
        },
      },
    });
    const videoId = await codecShop.add(await fixture('two-keyframes-irregular'));
    const state = await codecShop.settled(videoId);
    const names = ['240p', 'hevc-240p', 'av1-240p'];
    const playlists = await Promise.all(
      names.map(async name => {
        const playlist = await codecShop.playback.mediaPlaylist(videoId, name);
        return playlist?.text.plain.toString().match(/#EXTINF:[\d.]+/g);
      }),
    );
    expect(playlists[0]?.length).toBeGreaterThan(1);
    expect(playlists).toEqual([playlists[0], playlists[0], playlists[0]]);
    const multivariant = (await codecShop.playback.multivariant(videoId, []))!.plain.toString();
    const { variants } = parseMultivariantPlaylist(multivariant);
    expect(variants.map(({ codecs }) => codecs.slice(0, 4))).toEqual(['avc1', 'hvc1', 'av01']);
    // H.264 first: it is the file that was uploaded.
    expect(state.codecRenditions.map(({ codec, status }) => `${codec} ${status}`)).toEqual([
      'hevc encoded',
      'av1 encoded',
    ]);
    for (const name of names.slice(1)) {
      const { parts } = (await codecShop.playback.media(
        videoId,
        name,
        `init-${generationOf(state, name)}.mp4`,
      ))!;
      expect((parts[0] as Buffer).includes(name.startsWith('av1') ? 'av01' : 'hvc1')).toBe(true);
    }
    isHevcBroken = true;
    const failed = await codecShop.settled(await codecShop.add(await fixture('single-frame')));
    expect(failed).toMatchObject({
      isPlayable: true,
      failure: undefined,
      codecRenditions: [
        { codec: 'hevc', status: 'failed' },
        { codec: 'av1', status: 'encoded' },
      ],
    });
    await codecShop.stop();
  });
});

function generationOf(
  { codecRenditions }: Awaited<ReturnType<VodPipeline['settled']>>,
  name: string,
): number {
  const rendition = codecRenditions.find(({ codec }) => name.startsWith(codec));
  return (rendition!.renditionMetadata as { generation: number }).generation;
}
