import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SlatePlayer } from '../../../../src/live/slate/slate-player.ts';
import type { SlateMedia } from '../../../../src/live/slate/slate-source.ts';
import type { FlvTag } from '../../../../src/media/flv/flv-tag.ts';

const frames = [1, 2, 3].map(byte => Buffer.from([byte]));
const media: SlateMedia = {
  shape: {
    ...{ width: 320, height: 180, framesPerSecond: 10, frames: 3, codec: undefined },
    audio: { sampleRate: 48_000, channels: 2 },
  },
  metadata: Buffer.from('onMetaData'),
  videoConfig: Buffer.from('video'),
  frames,
  audio: { config: Buffer.from('audio'), silence: Buffer.from('silence'), frameMs: 1024 / 48 },
};

let nowMs = 0;
let player: SlatePlayer | undefined;
beforeEach(() => {
  nowMs = 10_000;
  vi.useFakeTimers();
});
afterEach(() => {
  player?.stop();
  vi.useRealTimers();
});

function play(sinceMs: number): FlvTag[] {
  const tags: FlvTag[] = [];
  const clock = { nowMs: () => 0, monotonicMs: () => nowMs };
  player = new SlatePlayer(media, sinceMs, clock, tag => void tags.push(tag));
  return tags;
}

const timesOf = (tags: readonly FlvTag[], kind: FlvTag['kind']) =>
  tags.filter(tag => tag.kind === kind).map(({ timestampMs }) => timestampMs);

test('a slate begins with what it is, and makes up at once for the time without media', () => {
  const tags = play(9500);
  player!.tick();
  expect(tags.slice(0, 3).map(({ body }) => String(body))).toEqual(['onMetaData', 'video', 'audio']);
  expect(timesOf(tags, 'video').slice(1)).toEqual([0, 100, 200, 300, 400, 500]);
  expect(timesOf(tags, 'audio').at(-1)).toBe(491);
});

test('its frames come over and over, in real time, with times that rise', () => {
  const tags = play(nowMs);
  for (let tick = 0; tick < 25; tick += 1) {
    nowMs += 40;
    vi.advanceTimersByTime(40);
  }
  const pictures = tags.filter(({ kind }) => kind === 'video').slice(1);
  expect(pictures.map(({ body }) => body[0])).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2]);
  expect(timesOf(tags, 'video').at(-1)).toBe(1000);
  const sounds = timesOf(tags, 'audio').slice(1);
  expect(sounds.length).toBe(47);
  expect(sounds.every((timeMs, index) => index === 0 || timeMs > sounds[index - 1]!)).toBe(true);
  player!.stop();
  nowMs += 1000;
  vi.advanceTimersByTime(1000);
  expect(timesOf(tags, 'video').at(-1)).toBe(1000);
});

test('after a long pause of the process only some of it is made up for', () => {
  const tags = play(nowMs);
  player!.tick();
  nowMs += 3_600_000;
  player!.tick();
  expect(tags.length).toBeLessThan(300);
});
