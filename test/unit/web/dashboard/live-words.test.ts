import { describe, expect, it } from 'vitest';
import type { BroadcastStats } from '../../../../src/web/dashboard/broadcasts/broadcast-stats.ts';
import { streamStateOf, withBroadcastEnded } from '../../../../src/web/dashboard/broadcasts/stream-state.ts';
import { codecName } from '../../../../src/web/dashboard/format/codec-name.ts';
import { formatEndReason, formatMedia } from '../../../../src/web/dashboard/pages/live/broadcast-labels.ts';
import { ffmpegCommand } from '../../../../src/web/dashboard/pages/live/encoder-settings.ts';
import {
  axisStart,
  type FeedSamples,
  mergeSamples,
  minShownSeconds,
  withStats,
} from '../../../../src/web/dashboard/pages/live/health/health-samples.ts';
import {
  isReconnecting,
  redactedUrl,
  restreamRows,
} from '../../../../src/web/dashboard/pages/live/restreams/restream-labels.ts';

const stats: BroadcastStats = {
  liveStreamId: 'li1',
  broadcastId: 'br1',
  state: 'live',
  durationSeconds: 5,
  viewers: 2,
  bitrateBitsPerSecond: 1_500_000,
  framesPerSecond: 30,
  droppedFrames: 0,
  missingFrames: 0,
};

describe('samples of health', () => {
  const collect = (times: readonly number[], change: Partial<BroadcastStats> = {}) => {
    let heard: FeedSamples | undefined;
    for (const time of times) heard = withStats(heard, { ...stats, ...change }, time);
    return heard;
  };
  const historyOf = (times: readonly number[], stepSeconds = 1) => ({
    broadcasting: true,
    broadcastId: 'br1',
    stepSeconds,
    data: times.map(time => ({
      measuredAt: new Date(time * 1000).toISOString(),
      bitrateBitsPerSecond: 900_000,
      framesPerSecond: 25,
      viewers: 1,
    })),
  });
  const shown = (...of: Parameters<typeof mergeSamples>) =>
    mergeSamples(...of).map(one => [one.time, one.framesPerSecond]);

  it('that are heard are kept for five minutes, and begin anew with another broadcast', () => {
    const times = Array.from({ length: 400 }, (_, second) => 1_000 + second);
    const heard = collect(times);
    expect(heard?.samples).toHaveLength(minShownSeconds);
    expect(heard?.samples[0]?.time).toBe(1_100);
    expect(withStats(heard, { ...stats, broadcastId: 'br2' }, 1_400).samples).toHaveLength(1);
  });

  it('go on after those that the server remembers, each second once', () => {
    expect(shown(historyOf([10, 11, 12]), collect([12, 13]), 300)).toEqual([
      ...[
        [10, 25],
        [11, 25],
        [12, 30],
        [13, 30],
      ],
    ]);
    expect(shown(historyOf([10, 11, 12]), collect([13]), 2)).toEqual([
      [12, 25],
      [13, 30],
    ]);
    expect(shown(historyOf([10]), collect([12], { broadcastId: 'br2' }), 300)).toEqual([[10, 25]]);
    expect(shown(undefined, collect([12]), 300)).toEqual([[12, 30]]);
    expect(shown({ broadcasting: false, data: [] }, undefined, 300)).toEqual([]);
  });

  it('break the line where nothing was told for a while, and while the encoder is away', () => {
    expect(shown(undefined, collect([10, 11, 20]), 300)).toEqual([
      ...[
        [10, 30],
        [11, 30],
        [12, null],
        [20, 30],
      ],
    ]);
    expect(shown(historyOf([0, 60, 300], 60), undefined, 43_200).map(([time]) => time)).toEqual([
      ...[0, 60, 120, 300],
    ]);
    expect(collect([10], { state: 'waiting' })?.samples[0]).toMatchObject({
      bitrateBitsPerSecond: null,
      viewers: 2,
    });
  });

  it('forget what came later when the clock was set back', () => {
    expect(collect([100, 101, 50])?.samples.map(({ time }) => time)).toEqual([50]);
  });

  it('are shown over five minutes at least, and otherwise from the first on', () => {
    const begin = (times: readonly number[], seconds: number) =>
      axisStart(mergeSamples(historyOf(times), undefined, seconds), seconds);
    expect(begin([1_000, 1_010], 300)).toBe(710);
    expect(begin([1_000, 1_010], 3_600)).toBe(710);
    expect(begin([1_000, 2_000], 3_600)).toBe(1_000);
    expect(begin([1_000, 9_000], 3_600)).toBe(8_700);
    expect(begin([], 300)).toBeUndefined();
  });
});

describe('the list of restreams', () => {
  const mirror = { name: 'Mirror', serverUrl: 'rtmp://u:p@a.example/app?x=1', streamKey: 'k' };
  const other = { name: 'Other', serverUrl: 'rtmp://b.example/app', streamKey: 'k' };
  const running = (name: string, serverUrl: string) => ({ name, serverUrl, state: 'live' as const });

  it('finds the status of each destination, though the order has changed', () => {
    const rows = restreamRows(
      [mirror, other],
      [running('Other', 'rtmp://b.example/app'), running('Mirror', 'rtmp://a.example/app')],
    );
    expect(rows.map(({ destination, status }) => [destination, status?.serverUrl])).toEqual([
      [mirror, 'rtmp://a.example/app'],
      [other, 'rtmp://b.example/app'],
    ]);
  });

  it('has no status for what was just added, switched on or off, and forgets what was removed', () => {
    const statuses = [running('Other', 'rtmp://b.example/app')];
    expect(restreamRows([mirror, { ...other, enabled: false }], statuses)).toEqual([
      { destination: mirror, serverUrl: 'rtmp://a.example/app', status: undefined },
      { destination: { ...other, enabled: false }, serverUrl: 'rtmp://b.example/app', status: undefined },
    ]);
    expect(restreamRows([], statuses)).toEqual([]);
  });

  it('knows which changes interrupt a destination', () => {
    expect(isReconnecting(other, { ...other, name: 'New name', enabled: true, rendition: 'source' })).toBe(
      false,
    );
    for (const change of [
      { serverUrl: 'rtmp://c/app' },
      { streamKey: 'x' },
      { rendition: '720p' as const },
    ]) {
      expect(isReconnecting(other, { ...other, ...change })).toBe(true);
    }
  });

  it('shows no secrets of an address', () => {
    expect(redactedUrl(mirror.serverUrl)).toBe('rtmp://a.example/app');
  });
});

describe('words of a live stream', () => {
  it('follow the feed, and what was loaded while the feed says nothing', () => {
    expect(streamStateOf(false, stats)).toBe('live');
    expect(streamStateOf(true, { ...stats, state: 'waiting' })).toBe('waiting');
    expect(streamStateOf(true, { ...stats, state: 'stopping' })).toBe('stopping');
    expect([streamStateOf(true, undefined), streamStateOf(false, undefined)]).toEqual(['live', 'off']);
  });

  it('say at once that a broadcast ended, before its live stream is loaded again', () => {
    const streams = [
      { liveStreamId: 'li1', broadcasting: true },
      { liveStreamId: 'li2', broadcasting: true },
    ];
    const states = withBroadcastEnded(streams, 'li1').map(({ broadcasting }) =>
      streamStateOf(broadcasting, undefined),
    );
    expect(states).toEqual(['off', 'live']);
  });

  it('tell an encoder that stopped from one that was lost', () => {
    const words = ['publisher-stopped', 'publisher-gone'].map(formatEndReason);
    expect(words).toEqual(['The encoder stopped', 'The encoder’s connection was lost']);
  });

  it('name picture and sound as people know them', () => {
    const codecs = ['avc1.64001f', 'hvc1.1.6.L93', 'av01.0.04M.08', 'mp4a.40.2', 'mp4a.40.34', 'new.1'];
    expect(codecs.map(codecName)).toEqual(['H.264', 'HEVC', 'AV1', 'AAC', 'MP3', 'new.1']);
    expect(formatMedia({ width: 1280, height: 720, videoCodec: 'avc1.64001f' })).toBe('1280 × 720, H.264');
    expect(formatMedia({})).toBeUndefined();
    const tracks = (codec: string) => [{ kind: 'audio' as const, trackId: 0, codec }];
    expect(formatMedia({ audioCodec: 'mp4a.40.2', tracks: tracks('Opus') })).toBe('Opus (converted to AAC)');
    expect(formatMedia({ audioCodec: 'mp4a.40.2', tracks: tracks('AAC') })).toBe('AAC');
  });

  it('give a command that publishes to the server with the key', () => {
    expect(ffmpegCommand('rtmp://live.example.org/s', 'abc')).toMatch(
      /^ffmpeg \\\n {2}-re -f lavfi .* "rtmp:\/\/live\.example\.org\/s\/abc"$/s,
    );
    expect(ffmpegCommand('srt://live.example.org:6200', 'abc')).toMatch(
      /-f mpegts "srt:\/\/live\.example\.org:6200\?streamid=abc"$/s,
    );
  });
});
