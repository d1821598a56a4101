import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FixtureName, fixture } from '../support/fixtures.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { startVodWorkshop, type VodWorkshop } from '../support/vod-workshop.ts';

let dataDir: string;
let shop: VodWorkshop;

beforeAll(async () => {
  dataDir = await makeTempDir();
  shop = await startVodWorkshop(dataDir);
});
afterAll(async () => {
  await shop.stop();
  await removeDir(dataDir);
});

/** Statuses as `type quality status`. */
function summary(state: Awaited<ReturnType<VodWorkshop['settled']>>): string[] {
  return state.renditions.map(({ type, quality, status }) => `${type} ${quality} ${status}`);
}

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
    ['streams-200', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['single-frame', ['hls 240p encoded', 'mp4 240p encoded']],
    ['interlaced', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['anamorphic', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['portrait', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['edit-list', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['fragmented-mp4', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['high-rate', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['two-keyframes-irregular', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['mono-8khz', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
    ['surround', ['hls 240p encoded', 'mp4 240p encoded', 'audio audio encoded']],
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
