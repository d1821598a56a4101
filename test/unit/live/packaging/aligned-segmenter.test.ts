import { describe, expect, test } from 'vitest';
import { AlignedSegmenter } from '../../../../src/live/packaging/aligned-segmenter.ts';
import type { Part } from '../../../../src/live/packaging/segmenter.ts';
import { LiveRendition } from '../../../../src/live/transcode/live-rendition.ts';
import { silentAacFrame } from '../../../../src/media/codecs/silent-aac-frame.ts';
import { systemClock } from '../../../../src/shared/clock.ts';
import { audioTrack, videoTrack } from '../../../support/recording-sink.ts';

const data = Buffer.alloc(4);
const audioFrameMs = 1024 / 48;

function follow(kind: 'video' | 'audio', partTargetSeconds = 0.202) {
  const rendition = new LiveRendition(kind, {
    targetDurationSeconds: 2,
    windowSeconds: 60,
    maxBytes: 1e8,
    clock: systemClock,
    onChange: () => {},
  });
  rendition.window.fixPartTarget(partTargetSeconds);
  const parts: Part[] = [];
  const segmenter = new AlignedSegmenter({
    rendition,
    kind,
    onTrack: () => {},
    onPart: part => parts.push(part),
  });
  segmenter.useTrack(kind === 'video' ? videoTrack : audioTrack);
  let sequence = 1;
  return {
    segmenter,
    parts,
    rendition,
    /** The leader opens a segment, lists parts of 200 ms, and closes it. */
    lead: (startMs: number, count: number, offMs = 0) => {
      sequence += 1;
      segmenter.segmentOpened({
        sequence,
        hasDiscontinuity: false,
        startMs,
        programDateTimeMs: 1e12 + startMs,
      });
      for (let index = 1; index <= count; index += 1) {
        const endMs = startMs + index * 200 + offMs;
        segmenter.partListed(endMs, endMs - 40);
      }
      segmenter.segmentClosed();
    },
    video: (fromMs: number, untilMs: number, keyEveryMs = 1000) => {
      for (let atMs = fromMs; atMs < untilMs; atMs += 40) {
        const isSync = atMs % keyEveryMs === 0;
        segmenter.add(
          { trackId: 1, dtsTicks: 0, durationTicks: 640, compositionOffsetTicks: 0, isSync, data },
          atMs,
        );
      }
    },
    audio: (fromMs: number, untilMs: number) => {
      for (let atMs = fromMs; atMs < untilMs; atMs += audioFrameMs) {
        segmenter.add(
          { trackId: 2, dtsTicks: 0, durationTicks: 1024, compositionOffsetTicks: 0, isSync: true, data },
          atMs,
        );
      }
    },
    playlist: async () => {
      rendition.window.end();
      const answer = await rendition.window.requests.mediaPlaylist(
        new URLSearchParams(),
        new AbortController().signal,
      );
      return answer.status === 200 ? String(answer.text.plain) : '';
    },
  };
}

/** Start time of audio in seconds: the 64 bits of `tfdt`, behind its version and flags. */
const startOf = (fragment: Buffer) =>
  Number(fragment.readBigUInt64BE(fragment.indexOf('tfdt') + 8)) / audioTrack.timescale;
const durationsOf = (playlist: string) =>
  [...playlist.matchAll(/EXTINF:([\d.]+)/g)].map(match => Number(match[1]));

describe('aligned video', () => {
  test("has parts and segments that end where the leader's do, in any order of arrival", async () => {
    const { lead, video, parts, playlist } = follow('video');
    lead(0, 5);
    video(0, 1500);
    lead(1000, 5);
    video(1520, 2000);
    expect(parts.map(({ durationSeconds }) => durationSeconds.toFixed(3))).toEqual(Array(10).fill('0.200'));
    expect(parts.map(({ isIndependent }) => isIndependent).indexOf(true, 1)).toBe(5);
    expect(durationsOf(await playlist()).slice(3, -1)).toEqual([1, 1]);
  });

  test('waits for the last frame of a part', () => {
    const { lead, video, parts } = follow('video');
    lead(0, 5);
    video(0, 160);
    expect(parts).toHaveLength(0);
    video(160, 200);
    expect(parts).toHaveLength(1);
  });

  test('lists a gap for a lost segment, and continues with the next one', async () => {
    const { lead, video, playlist, segmenter } = follow('video');
    lead(0, 5);
    video(0, 1000);
    lead(1000, 5);
    lead(2000, 5);
    video(2000, 3000);
    segmenter.finish();
    const text = await playlist();
    expect(durationsOf(text).slice(3, -1)).toEqual([1, 1, 1]);
    expect(text.match(/#EXT-X-GAP/g)).toHaveLength(4);
  });

  test('continues in a segment without a keyframe, as the leader does', async () => {
    const { lead, video, parts, playlist } = follow('video');
    for (const startMs of [0, 2400, 4000]) {
      video(startMs, startMs === 2400 ? 4000 : startMs + 2400, 4000);
      lead(startMs, startMs === 2400 ? 8 : 12);
    }
    expect(parts.map(({ isIndependent }) => isIndependent)).toEqual(
      Array.from({ length: 32 }, (_, index) => index % 20 === 0),
    );
    expect(durationsOf(await playlist()).slice(-4, -1)).toEqual([2.4, 1.6, 2.4]);
  });

  test('of another track starts with its own segment', () => {
    const { lead, video, parts, segmenter, rendition } = follow('video');
    lead(0, 5);
    video(0, 600);
    segmenter.useTrack({ ...videoTrack, width: 64 });
    video(600, 1000);
    lead(1000, 5);
    video(1000, 2000);
    expect(rendition.tracks.video).toMatchObject({ width: 64 });
    expect(parts).toHaveLength(10);
  });
});

describe('aligned audio', () => {
  test("has parts of whole frames, and segments that start within half a frame of the leader's", async () => {
    const { lead, audio, parts, playlist } = follow('audio');
    audio(0, 2100);
    lead(0, 5);
    lead(1000, 5);
    expect(parts.every(({ durationSeconds }) => durationSeconds <= 0.202)).toBe(true);
    for (const seconds of durationsOf(await playlist()).slice(3, -1))
      expect(Math.abs(seconds - 1)).toBeLessThan(0.022);
  });

  test.each([1e-7, -1e-7])(
    'has no gap and no overlap where a segment starts half a frame (%d ms) from one of its frames',
    offMs => {
      const { lead, audio, parts } = follow('audio');
      audio(0, 5000);
      // Every second segment starts there; ends of parts are sums.
      for (let index = 0; index < 6; index += 1) lead(index * 800, 4, offMs);
      const sum = parts.reduce((total, { durationSeconds }) => total + durationSeconds, 0);
      expect(sum).toBeCloseTo((225 * audioFrameMs) / 1000, 6);
    },
  );

  test('continues without gap or overlap when the composition offset changes slightly', () => {
    const { lead, audio, parts } = follow('audio');
    audio(0, 5000);
    for (const startMs of [0, 1060, 1990, 3050]) lead(startMs, 5);
    let endSeconds = 0;
    for (const { body, durationSeconds } of parts) {
      expect(Math.abs(startOf(body) - endSeconds)).toBeLessThan(0.001);
      endSeconds += durationSeconds;
    }
    expect(Math.abs(endSeconds - 4.05)).toBeLessThan(audioFrameMs / 1000);
  });

  test('that never comes is replaced by silence after a second', async () => {
    const { lead, audio, playlist } = follow('audio');
    audio(0, 400);
    lead(0, 5);
    lead(1000, 5);
    lead(2000, 5);
    const durations = durationsOf(await playlist()).slice(3, -1);
    // The last second may still come.
    expect(durations).toHaveLength(2);
    for (const seconds of durations) expect(Math.abs(seconds - 1)).toBeLessThan(0.022);
  });

  test('beside pictures of two seconds, whose parts are listed before they end, is not replaced by silence', () => {
    const { segmenter, audio, parts } = follow('audio', 2.002);
    for (let startMs = 0; startMs < 10_000; startMs += 2000) {
      segmenter.segmentOpened({
        sequence: 2 + startMs / 2000,
        hasDiscontinuity: false,
        startMs,
        programDateTimeMs: 1e12 + startMs,
      });
      segmenter.partListed(startMs + 2000, startMs);
      audio(Math.ceil(startMs / audioFrameMs) * audioFrameMs, startMs + 2000);
      segmenter.segmentClosed();
    }
    const silence = silentAacFrame(audioTrack)!;
    expect(parts.length).toBeGreaterThan(4);
    expect(parts.filter(({ body }) => body.includes(silence))).toEqual([]);
  });

  test('that comes back at the start of a segment joins the silence before it', () => {
    const { lead, audio, parts } = follow('audio');
    audio(0, 400);
    audio(2001.3, 3100);
    for (const startMs of [0, 1000, 2000]) lead(startMs, 5);
    let endSeconds = 0;
    for (const { body, durationSeconds } of parts) {
      expect(startOf(body)).toBeCloseTo(endSeconds, 4);
      endSeconds += durationSeconds;
    }
    expect(endSeconds).toBeGreaterThan(2.9);
  });

  test('that comes back after silence has no gap and no overlap', () => {
    const { lead, audio, parts } = follow('audio');
    audio(0, 400);
    lead(0, 5);
    audio(700, 1100);
    lead(1000, 5);
    audio(1100, 2100);
    const sum = parts.reduce((total, { durationSeconds }) => total + durationSeconds, 0);
    expect(Math.abs(sum - 2)).toBeLessThan(0.05);
  });
});

test.each(['video', 'audio'] as const)('%s that begins below 0 is written from there', kind => {
  for (const beforeMs of [60, 30, 3]) {
    const { segmenter, parts, lead, audio } = follow(kind);
    lead(0, 5);
    if (kind === 'audio') audio(-beforeMs, 1200);
    for (let index = 0; kind === 'video' && index < 32; index += 1) {
      const isSync = index === 0;
      segmenter.add(
        { trackId: 1, dtsTicks: 0, durationTicks: 640, compositionOffsetTicks: 0, isSync, data },
        index * 40 - beforeMs,
      );
    }
    segmenter.finish();
    expect(parts.length).toBeGreaterThanOrEqual(5);
    const startTicks = startOf(parts[0]!.body) * audioTrack.timescale;
    expect(startTicks).toBeLessThan(kind === 'video' ? 1 : 1024);
  }
});
