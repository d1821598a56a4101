import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SlatePlayer } from '../../../../src/live/slate/slate-player.ts';
import type { SlateMedia } from '../../../../src/live/slate/slate-source.ts';
import { type MediaEvent, type TrackKind, timestampMs } from '../../../../src/media/samples/media-sample.ts';
import { samples } from '../../../support/media-samples.ts';

const frames = [1, 2, 3].map(byte =>
  samples.video('avc1', { dtsMs: 0, ptsMs: 80, data: Buffer.from([byte]) }),
);
const media: SlateMedia = {
  shape: {
    width: 320,
    height: 180,
    framesPerSecond: 10,
    frames: 3,
    codec: undefined,
    audio: { sampleRate: 48_000, channels: 2 },
  },
  declared: { hasAudio: true, hasVideo: true },
  videoConfig: samples.videoConfig('avc1', Buffer.of(1)),
  frames,
  audio: {
    config: samples.audioConfig('mp4a', Buffer.of(2)),
    silence: samples.audio('mp4a', { dtsMs: 0, data: Buffer.of(3) }),
    frameMs: 1024 / 48,
  },
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

function play(sinceMs: number): MediaEvent[] {
  const events: MediaEvent[] = [];
  const clock = { nowMs: () => 0, monotonicMs: () => nowMs };
  player = new SlatePlayer(media, sinceMs, clock, event => void events.push(event));
  return events;
}

const samplesOf = (events: readonly MediaEvent[], kind: TrackKind) =>
  events.filter(event => event.type === 'sample').filter(sample => sample.kind === kind);
const timesOf = (events: readonly MediaEvent[], kind: TrackKind) => samplesOf(events, kind).map(timestampMs);

test('a slate begins with what it is, and makes up at once for the time without media', () => {
  const events = play(9500);
  player!.tick();
  expect(events.slice(0, 3)).toEqual([
    { type: 'declared', media: media.declared },
    media.videoConfig,
    media.audio!.config,
  ]);
  expect(timesOf(events, 'video')).toEqual([0, 100, 200, 300, 400, 500]);
  expect(timesOf(events, 'audio').at(-1)).toBe(491);
});

test('its frames come over and over, in real time, with times that rise', () => {
  const events = play(nowMs);
  for (let tick = 0; tick < 25; tick += 1) {
    nowMs += 40;
    vi.advanceTimersByTime(40);
  }
  const pictures = samplesOf(events, 'video');
  expect(pictures.every(({ dtsTicks, ptsTicks }) => ptsTicks - dtsTicks === 7200)).toBe(true);
  expect(pictures.map(({ data }) => data[0])).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2]);
  expect(timesOf(events, 'video').at(-1)).toBe(1000);
  const sounds = timesOf(events, 'audio');
  expect(sounds.length).toBe(47);
  expect(sounds.every((timeMs, index) => index === 0 || timeMs > sounds[index - 1]!)).toBe(true);
  player!.stop();
  nowMs += 1000;
  vi.advanceTimersByTime(1000);
  expect(timesOf(events, 'video').at(-1)).toBe(1000);
});

test('after a long pause of the process only some of it is made up for', () => {
  const events = play(nowMs);
  player!.tick();
  nowMs += 3_600_000;
  player!.tick();
  expect(events.length).toBeLessThan(300);
});
