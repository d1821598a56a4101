import { describe, expect, test } from 'vitest';
import { Segmenter } from '../../../../src/live/packaging/segmenter.ts';
import type { TrackKind } from '../../../../src/media/samples/media-sample.ts';
import { audioTrack, RecordingSink, readSamples, videoTrack } from '../../../support/recording-sink.ts';

interface Feed {
  readonly kind: TrackKind;
  readonly atMs: number;
  readonly durationMs: number;
  readonly isSync: boolean;
}

/** Whole milliseconds, as RTMP sends them. */
function timesAt(fps: number, fromMs: number, toMs: number): number[] {
  const count = Math.ceil(((toMs - fromMs) * fps) / 1000);
  return Array.from({ length: count }, (_, index) => fromMs + Math.round((index * 1000) / fps));
}

function feedOf(kind: TrackKind, times: readonly number[], isSync: (index: number) => boolean): Feed[] {
  return times.map((atMs, index) => {
    const next = times[index + 1] ?? atMs + (atMs - (times[index - 1] ?? atMs - 20));
    return { kind, atMs, durationMs: next - atMs, isSync: isSync(index) };
  });
}

function video(fps: number, gopSeconds: number, seconds: number, fromMs = 0): Feed[] {
  const gopFrames = Math.round(gopSeconds * fps);
  return feedOf('video', timesAt(fps, fromMs, fromMs + seconds * 1000), index => index % gopFrames === 0);
}

function audio(seconds: number, fromMs = 0): Feed[] {
  return feedOf('audio', timesAt(48000 / 1024, fromMs, fromMs + seconds * 1000), () => true);
}

/** Orders samples as a packager delivers them: each when it is complete. */
function inOrder(...feeds: readonly Feed[][]): Feed[] {
  return feeds.flat().toSorted((a, b) => a.atMs + a.durationMs - (b.atMs + b.durationMs));
}

interface CutOptions {
  readonly sink?: RecordingSink;
  readonly partSeconds?: number;
  readonly segmentSeconds?: number;
  readonly onLongGop?: (seconds: number) => void;
  readonly keyframeData?: Buffer;
  /** Called before each sample. */
  readonly before?: (segmenter: Segmenter, sample: Feed) => void;
}

function cut(samples: readonly Feed[], options: CutOptions = {}): RecordingSink {
  const { sink = new RecordingSink(), partSeconds = 0.2, segmentSeconds = 2, onLongGop, before } = options;
  const has = (kind: TrackKind) => samples.some(sample => sample.kind === kind);
  const segmenter = new Segmenter({
    tracks: {
      ...(has('video') ? { video: videoTrack } : {}),
      ...(has('audio') ? { audio: audioTrack } : {}),
    },
    sink,
    partSeconds,
    segmentSeconds,
    onLongGop,
  });
  for (const feed of samples) {
    const { kind, atMs, durationMs, isSync } = feed;
    before?.(segmenter, feed);
    const { id, timescale } = kind === 'video' ? videoTrack : audioTrack;
    const ticks = (ms: number) => Math.round((ms * timescale) / 1000);
    const sample = {
      trackId: id,
      dtsTicks: ticks(atMs),
      durationTicks: ticks(atMs + durationMs) - ticks(atMs),
      compositionOffsetTicks: 0,
      isSync,
      data: (kind === 'video' && isSync ? options.keyframeData : undefined) ?? Buffer.from([1, 2, 3]),
    };
    segmenter.add(kind, sample, atMs);
  }
  segmenter.finish();
  return sink;
}

/** Checks that every sample is in the output once, in order and at its time, except up to two audio frames behind the last part. */
function expectComplete(sink: RecordingSink, samples: readonly Feed[]): void {
  const cutSamples = sink.samples();
  for (const [kind, track] of [
    ['video', videoTrack],
    ['audio', audioTrack],
  ] as const) {
    const wanted = samples.filter(sample => sample.kind === kind).map(sample => sample.atMs);
    const found = cutSamples[kind].map(sample => Math.round((sample.dtsTicks * 1000) / track.timescale));
    const mayMiss = kind === 'audio' && cutSamples.video.length > 0 ? 2 : 0;
    expect(found.length, kind).toBeGreaterThanOrEqual(wanted.length - mayMiss);
    expect(found, kind).toEqual(wanted.slice(0, found.length));
  }
}

/** Checks that the durations add up to the end of the last frame, or of longer audio. */
function expectSum(sink: RecordingSink, samples: readonly Feed[]): void {
  const endOf = (some: readonly Feed[]) => Math.max(...some.map(({ atMs, durationMs }) => atMs + durationMs));
  const leader = samples.some(sample => sample.kind === 'video') ? 'video' : 'audio';
  const leading = samples.filter(sample => sample.kind === leader);
  const sumMs = sink.durations.reduce((total, duration) => total + duration, 0) * 1000;
  const startMs = leading[0]!.atMs;
  expect(sumMs).toBeGreaterThan(endOf(leading) - startMs - 1);
  expect(sumMs).toBeLessThan(endOf(samples) - startMs + 1);
}

describe.each([30, 30000 / 1001, 25, 24, 60, 50, 15, 10])('%f fps', fps => {
  test.each([
    ['with audio', true],
    ['without audio', false],
  ])('%s: every part and segment is valid', (_, withAudio) => {
    const samples = inOrder(video(fps, 2, 20), withAudio ? audio(20) : []);
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
    expectSum(sink, samples);
    expect(sink.segments.every(segment => segment.isIndependent)).toBe(true);
  });

  test('segments end at the keyframes', () => {
    const sink = cut(inOrder(video(fps, 2, 20), audio(20)));
    expect(sink.segments).toHaveLength(10);
    for (const duration of sink.durations) expect(duration).toBeCloseTo(2, 1);
  });

  test('parts are whole frames of about the requested duration', () => {
    const sink = cut(inOrder(video(fps, 2, 20), audio(20)));
    // Times are rounded to milliseconds, each by half a millisecond.
    const roundingSeconds = 0.001 * Math.round(0.2 * fps);
    expect(Math.abs(sink.partTargetSeconds! - 0.2)).toBeLessThanOrEqual(0.5 / fps + 0.003 + roundingSeconds);
    const others = sink.parts.slice(1, 9).map(({ durationSeconds }) => durationSeconds);
    expect(Math.min(...others)).toBeGreaterThanOrEqual(0.85 * sink.partTargetSeconds!);
    expect(sink.parts[0]!.durationSeconds).toBeLessThan(2 / fps);
  });
});

test.each([3, 21, 46, 120, 160])('audio that begins %i ms after the video is in the first part', lateMs => {
  const samples = inOrder(video(30, 2, 6), audio(6, lateMs));
  const sink = cut(samples);
  expect(sink.brokenRules()).toEqual([]);
  expectComplete(sink, samples);
  const { video: shown, audio: heard } = readSamples(sink.parts.slice(0, 1));
  expect([shown.length > 0, heard.length > 0]).toEqual([true, true]);
});

describe('1 fps', () => {
  test('with audio: audio fills the parts between frames', () => {
    const sink = new RecordingSink(2, 0.202);
    const samples = inOrder(video(1, 2, 20), audio(20));
    cut(samples, { sink });
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
    expectSum(sink, samples);
  });

  /** A frame is known when it arrives, or when the next one does. */
  const arrivals = [
    { arrival: 'at its start', arrivalMs: (feed: Feed) => feed.atMs },
    { arrival: 'at its end', arrivalMs: (feed: Feed) => feed.atMs + feed.durationMs },
    { arrival: 'a little after its end', arrivalMs: (feed: Feed) => feed.atMs + feed.durationMs + 45 },
    {
      arrival: 'at its end, later at its start',
      arrivalMs: (feed: Feed) => feed.atMs + (feed.atMs < 8000 ? feed.durationMs : 0),
    },
  ];
  /** Uneven and even distances of frames. */
  const distances = [[1000], [500], [700, 1300], [2000], [300, 2400, 1100]];

  test.each(distances.flatMap(distance => arrivals.map(arrival => ({ distance, ...arrival }))))(
    'pictures $distance ms apart, each $arrival: segments begin with audio and video of the same time',
    ({ distance, arrivalMs }) => {
      const times = [0];
      while (times.at(-1)! < 30_000) times.push(times.at(-1)! + distance[times.length % distance.length]!);
      const pictures = feedOf('video', times, index => index % 2 === 0);
      const samples = [
        ...pictures.map(feed => ({ feed, arrivesMs: arrivalMs(feed) })),
        ...audio(times.at(-1)! / 1000 + 1).map(feed => ({ feed, arrivesMs: feed.atMs + feed.durationMs })),
      ]
        .toSorted((a, b) => a.arrivesMs - b.arrivesMs)
        .map(({ feed }) => feed);
      const sink = cut(samples, { sink: new RecordingSink(6) });
      expect(sink.brokenRules()).toEqual([]);
      expectComplete(sink, samples);
      expect(sink.segments.length).toBeGreaterThan(4);
      for (const segment of sink.segments) {
        const { video: shown, audio: heard } = readSamples(segment.parts);
        const videoSeconds = shown[0]!.dtsTicks / videoTrack.timescale;
        const audioSeconds = heard[0]!.dtsTicks / audioTrack.timescale;
        expect(Math.abs(audioSeconds - videoSeconds), `at ${videoSeconds} s`).toBeLessThan(0.1);
      }
    },
  );

  test.each([0, 45, 700])(
    'pictures of ten seconds that are known %i ms after their ends fill a segment each, with the audio beside them',
    lateMs => {
      const times = [0, 10_000, 20_000, 30_000, 40_000, 50_000];
      const pictures = feedOf('video', times, () => true);
      const samples = [
        ...pictures.map(feed => ({ feed, arrivesMs: feed.atMs + feed.durationMs + lateMs })),
        ...audio(61).map(feed => ({ feed, arrivesMs: feed.atMs + feed.durationMs })),
      ]
        .toSorted((a, b) => a.arrivesMs - b.arrivesMs)
        .map(({ feed }) => feed);
      const sink = cut(samples, { sink: new RecordingSink(10) });
      expect(sink.brokenRules()).toEqual([]);
      expectComplete(sink, samples);
      const shown = sink.segments.slice(0, 6).map(({ parts }) => readSamples(parts).video.length);
      expect(shown).toEqual([1, 1, 1, 1, 1, 1]);
      for (const duration of sink.durations.slice(0, 6)) expect(duration).toBeCloseTo(10, 2);
    },
  );

  test('without audio: each part is as long as its frame, and PART-TARGET with it', () => {
    const samples = video(1, 2, 20);
    const sink = cut(samples);
    expect(sink.partTargetSeconds).toBeCloseTo(1, 2);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
  });
});

describe('a keyframe interval', () => {
  test.each([
    [0.5, 2],
    [1, 2],
    [1.5, 1.5],
    [2, 2],
  ])('of %f s makes segments of %f s', (gopSeconds, segmentSeconds) => {
    const samples = inOrder(video(30, gopSeconds, 24), audio(24));
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
    // The first segment ends before the keyframe interval is known.
    for (const duration of sink.durations.slice(2, -1)) expect(duration).toBeCloseTo(segmentSeconds, 1);
    expect(sink.segments.slice(2).every(segment => segment.isIndependent)).toBe(true);
  });

  test.each([2.5, 4, 10])('of %f s is cut without a keyframe, and reported once', gopSeconds => {
    const told: number[] = [];
    const samples = inOrder(video(30, gopSeconds, 40), audio(40));
    const sink = cut(samples, { onLongGop: seconds => told.push(seconds) });
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
    expectSum(sink, samples);
    expect(told).toHaveLength(1);
    expect(sink.segments.some(segment => !segment.isIndependent)).toBe(true);
  });

  test.each([
    [2.5, 3],
    [4, 4],
    [10, 10],
  ])(
    'of %f s fits a learned target duration of %i s: every segment starts with a keyframe',
    (gopSeconds, target) => {
      const samples = inOrder(video(30, gopSeconds, 40), audio(40));
      const sink = cut(samples, { sink: new RecordingSink(target) });
      expect(sink.brokenRules()).toEqual([]);
      expect(sink.segments.every(segment => segment.isIndependent)).toBe(true);
      for (const duration of sink.durations.slice(0, -1)) expect(duration).toBeCloseTo(gopSeconds, 1);
    },
  );

  test.each([
    ...[0.5, 1, 1.5, 2, 2.3, 2.5].flatMap(gop => [24, 30, 60].map(fps => [gop, fps] as const)),
    ...([
      [250 / 60, 60],
      [5, 30],
      [250 / 30, 30],
      [10, 25],
    ] as const),
  ])(
    'of %f s at %i fps that is not declared is learned from the first two keyframes: every segment starts with one',
    (gopSeconds, fps) => {
      const samples = inOrder(video(fps, gopSeconds, 40), audio(40));
      const sink = cut(samples, { sink: new RecordingSink(2, undefined, false) });
      expect(sink.brokenRules()).toEqual([]);
      expectComplete(sink, samples);
      expect(sink.segments.every(segment => segment.isIndependent)).toBe(true);
      const length = gopSeconds * Math.ceil(1.999 / gopSeconds);
      expect(sink.targetDurationSeconds).toBe(gopSeconds < 2.4 ? 2 : Math.round(length + 1 / fps));
    },
  );

  test('of more than 10 s is not waited for: segments of 10 s', () => {
    const told: number[] = [];
    const samples = inOrder(video(30, 20, 60), audio(60));
    let firstSegmentAtMs: number | undefined;
    const sink = new RecordingSink(2, undefined, false);
    cut(samples, {
      sink,
      onLongGop: seconds => told.push(seconds),
      before: (_, { atMs }) => {
        if (sink.isTargetDurationFixed) firstSegmentAtMs ??= atMs;
      },
    });
    expect(sink.brokenRules()).toEqual([]);
    expect(sink.targetDurationSeconds).toBe(10);
    expect(sink.segments).toHaveLength(6);
    expect(firstSegmentAtMs).toBeLessThan(10_500);
    expect(told).toHaveLength(1);
  });

  test('is not waited for where there is no video, or the publisher ends before the second keyframe', () => {
    const listening = new RecordingSink(2, undefined, false);
    expect(cut(audio(10), { sink: listening }).brokenRules()).toEqual([]);
    expect(listening.durations.length).toBeGreaterThan(3);
    const ended = new RecordingSink(2, undefined, false);
    expect(cut(inOrder(video(30, 10, 5), audio(5)), { sink: ended }).brokenRules()).toEqual([]);
    expect(ended.isTargetDurationFixed).toBe(true);
    expect(ended.targetDurationSeconds).toBe(5);
  });

  const settings = (gopFrames: number) =>
    Buffer.from(`x264 - core 164 - options: keyint=${gopFrames} keyint_min=1 intra_refresh=0 `);

  /** Parts that were not listed when their last frame arrived, of the segments that its keyframes begin. */
  function lateParts(samples: readonly Feed[], keyframeData?: Buffer): number[] {
    const sink = new RecordingSink();
    const late: number[] = [];
    cut(samples, {
      sink,
      keyframeData,
      before: (_, { kind, isSync, atMs }) => {
        if (kind !== 'video' || !isSync || atMs === 0) return;
        const { video: listed } = sink.samples();
        const listedMs = ((listed.at(-1)?.dtsTicks ?? 0) * 1000) / videoTrack.timescale;
        if (atMs - listedMs > 50) late.push(Math.round(atMs));
      },
    });
    expect(sink.brokenRules()).toEqual([]);
    return late;
  }

  test('that is constant is known after five of them: the last part of a segment ends with its last frame', () => {
    expect(lateParts(inOrder(video(24, 2, 20), audio(20)))).toEqual([2000, 4000, 6000, 8000, 10_000]);
  });

  test('that the encoder declares is known from the first keyframe on', () => {
    const samples = inOrder(video(25, 2, 20), audio(20));
    expect(lateParts(samples)).toEqual([2000]);
    expect(lateParts(samples, settings(50))).toEqual([]);
    // Rounded to milliseconds, the first frame is too short or too long.
    expect(lateParts(inOrder(video(24, 2, 20), audio(20)), settings(48))).toEqual([]);
    const thirty = inOrder(video(30, 3, 20), audio(20));
    const sink = cut(thirty, { keyframeData: settings(90) });
    expect(sink.brokenRules()).toEqual([]);
    expect(sink.segments.every(segment => segment.isIndependent)).toBe(true);
  });

  test('that the encoder declares fits a segment from the first one on', () => {
    const samples = inOrder(video(25, 4, 24), audio(24));
    const sink = cut(samples, { keyframeData: settings(100) });
    expect(sink.targetDurationSeconds).toBe(4);
    expect(sink.brokenRules()).toEqual([]);
    expect(sink.durations.slice(0, -1).every(duration => Math.abs(duration - 4) < 0.01)).toBe(true);
  });

  test.each([
    ['that becomes longer', undefined, [0, 48, 96, 144, 206, 260]],
    ['that becomes shorter', undefined, [0, 48, 96, 144, 185, 200, 248]],
    ['that is longer than declared', settings(48), [0, 55, 110, 158]],
    ['that is shorter than declared', settings(48), [0, 30, 60, 108]],
  ])('%s leaves every part and segment valid', (_, keyframeData, keyframes) => {
    const frames = feedOf('video', timesAt(25, 0, 14_000), index => keyframes.includes(index));
    for (const samples of [inOrder(frames, audio(14)), frames]) {
      const sink = cut(samples, keyframeData === undefined ? {} : { keyframeData });
      expect(sink.brokenRules()).toEqual([]);
      expectComplete(sink, samples);
      expectSum(sink, samples);
    }
  });

  test('is not expected again after a keyframe that did not come: one segment at most begins without one', () => {
    const gops = [48, 48, 48, 48, 48, 48, 49, 48, 48, 48, 48, 48, 48, 50, 48];
    const keyframes = new Set(
      gops.map((_, index) => gops.slice(0, index).reduce((sum, gop) => sum + gop, 0)),
    );
    const samples = inOrder(
      feedOf('video', timesAt(24, 0, 29_000), index => keyframes.has(index)),
      audio(29),
    );
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
    expect(sink.segments.filter(segment => !segment.isIndependent)).toHaveLength(1);
  });

  test('may vary between 1 and 2.4 s', () => {
    const times = timesAt(30, 0, 40_000);
    const isSync = new Set([
      0, 30, 102, 132, 204, 234, 306, 378, 450, 480, 552, 624, 690, 760, 830, 900, 970,
    ]);
    const samples = inOrder(
      feedOf('video', times, index => isSync.has(index)),
      audio(40),
    );
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
  });

  test('is measured', () => {
    const segmenter = new Segmenter({
      tracks: { video: videoTrack },
      sink: new RecordingSink(),
      partSeconds: 0.2,
      segmentSeconds: 2,
    });
    for (const { atMs, durationMs, isSync } of video(25, 1.2, 5)) {
      const sample = {
        trackId: 1,
        dtsTicks: atMs * 16,
        durationTicks: durationMs * 16,
        compositionOffsetTicks: 0,
        isSync,
        data: Buffer.of(1),
      };
      segmenter.add('video', sample, atMs);
    }
    expect(segmenter.gopSeconds).toBeCloseTo(1.2, 3);
    expect(segmenter.frameSeconds).toBeCloseTo(0.04, 3);
  });
});

describe('uneven timestamps', () => {
  test('with jitter of some milliseconds keep parts within their target', () => {
    // A fixed sequence that looks random, so that a failure can be repeated.
    let state = 12345;
    const jitter = () => {
      state = (state * 1103515245 + 12345) % 2 ** 31;
      return (state % 13) - 6;
    };
    const times = timesAt(30, 20, 30_020).map(atMs => atMs + jitter());
    const samples = inOrder(
      feedOf('video', times, index => index % 60 === 0),
      audio(30),
    );
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
  });

  test('with missing frames do not interrupt parts', () => {
    const all = timesAt(30, 0, 20_000);
    const times = all.filter((_, index) => index % 60 === 0 || index % 7 < 3);
    const samples = inOrder(
      feedOf('video', times, index => Math.round((times[index]! * 30) / 1000) % 60 === 0),
      audio(20),
    );
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
    expectSum(sink, samples);
  });

  test('with another frame rate after the first part keep PART-TARGET', () => {
    for (const withAudio of [true, false]) {
      for (const fps of [24, 25, 30000 / 1001, 48, 50, 60, 15, 12.5, 10]) {
        const sink = new RecordingSink(2, 0.202);
        const samples = inOrder(video(fps, 2, 10), withAudio ? audio(10) : []);
        cut(samples, { sink });
        expect(sink.brokenRules(), `${fps} frames a second, audio: ${withAudio}`).toEqual([]);
        expectComplete(sink, samples);
      }
    }
  });
});

test.each([0.4, 0.7, 1, 1.3, 2, 3])(
  'knows before the keyframes come which of them begin segments: one per %f s',
  gopSeconds => {
    const samples = video(25, gopSeconds, 20);
    const keyframesMs = samples.filter(({ isSync }) => isSync).map(({ atMs }) => atMs);
    for (const onTheWayMs of [0, 900, 3500]) {
      const known = new Map<number, boolean>();
      const sink = cut(samples, {
        before: (segmenter, { atMs }) => {
          const onTheWay = keyframesMs.filter(at => at >= atMs && at <= atMs + onTheWayMs);
          if (onTheWay.length > 0) known.set(onTheWay.at(-1)!, segmenter.willBeginSegmentAt(onTheWay));
        },
      });
      const starts = new Set(sink.segments.map(({ startMs }) => Math.round(startMs)));
      expect([...known]).toEqual([...known.keys()].map(atMs => [atMs, starts.has(atMs)]));
    }
  },
);

describe('video stops while audio goes on', () => {
  const samples = inOrder(video(30, 2, 5), audio(15));

  test('audio-only parts follow, and segments end by time', () => {
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
    const sum = sink.durations.reduce((total, duration) => total + duration, 0);
    expect(sum).toBeGreaterThan(14);
  });

  test('video that returns begins a segment at its next keyframe', () => {
    // A packager delivers the last frame when the next one tells its duration: after ten seconds.
    const times = [...timesAt(30, 0, 5000), ...timesAt(30, 15_000, 20_000)];
    const back = inOrder(
      feedOf('video', times, index => index % 50 === 0),
      audio(20),
    );
    const sink = cut(back);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, back);
    const starts = sink.segments.filter(segment => segment.isIndependent).map(segment => segment.startMs);
    expect(starts.some(startMs => startMs > 14_798 && startMs <= 15_000)).toBe(true);
  });
});

/** Writes like two pipes that are read in turn: video of some time comes at once, behind the audio. */
test.each([24, 25, 30, 60])(
  'video at %i fps that is late by any time makes no part without a duration',
  fps => {
    const all = inOrder(video(fps, 2, 7), audio(7));
    for (let lateMs = 1750; lateMs <= 2100; lateMs += 11) {
      const delayed = all.map(sample => {
        const isHeld = sample.kind === 'video' && sample.atMs >= 3000 && sample.atMs < 3000 + lateMs;
        return { ...sample, comesAtMs: isHeld ? 3000 + lateMs : sample.atMs + sample.durationMs };
      });
      const samples = delayed.toSorted((a, b) => a.comesAtMs - b.comesAtMs);
      const sink = cut(samples);
      const shortest = Math.min(...sink.parts.map(part => part.durationSeconds));
      expect(shortest, `${lateMs} ms late`).toBeGreaterThan(0.0009);
      expect(sink.brokenRules(), `${lateMs} ms late`).toEqual([]);
      expectComplete(sink, samples);
    }
  },
);

describe('audio alone', () => {
  test.each([
    ['AAC frames of 48 kHz', 48000 / 1024],
    ['AAC frames of 44.1 kHz', 44100 / 1024],
    ['AAC frames of 22.05 kHz', 22050 / 1024],
    ['frames of 20 ms', 50],
    ['frames of 128 ms', 7.8125],
  ])('%s: parts and segments are valid, every part is independent, segments end by time', (_, rate) => {
    const samples = feedOf('audio', timesAt(rate, 0, 20_000), () => true);
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
    expectSum(sink, samples);
    expect(sink.parts.every(part => part.isIndependent)).toBe(true);
    for (const duration of sink.durations.slice(0, -1)) expect(duration).toBeCloseTo(2, 0);
  });
});

describe('tracks that start at different times', () => {
  test('audio half a second later: the first parts have video only', () => {
    const samples = inOrder(video(30, 2, 6), audio(5.5, 500));
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expectComplete(sink, samples);
  });

  test('audio before the first video frame is in the first part', () => {
    const samples = inOrder(video(30, 2, 6, 100), audio(6));
    const sink = cut(samples);
    expect(sink.brokenRules()).toEqual([]);
    expect(sink.samples().video).toHaveLength(180);
  });
});

test('the open part comes out at the end', () => {
  const sink = cut(inOrder(video(30, 2, 2.35), audio(2.35)));
  expect(sink.open).toBeUndefined();
  expect(sink.durations.at(-1)).toBeCloseTo(0.35, 1);
});

describe('audio after the last video part', () => {
  const sound = audio(1.99);
  const cutLate = (late: number) =>
    cut([...inOrder(video(25, 2, 2), sound.slice(0, -late)), ...sound.slice(-late)]);

  test.each([1, 2])('drops %i frames, so that no part is empty', late => {
    const sink = cutLate(late);
    expect(Math.min(...sink.parts.slice(1).map(part => part.durationSeconds))).toBeGreaterThan(0.1);
    expect(sink.durations[0]).toBeCloseTo(2, 6);
  });

  test('is kept in a part when it is longer', () => {
    const sink = cutLate(6);
    expect(sink.parts.at(-1)!.durationSeconds).toBeGreaterThan(0.009);
    expect(sink.samples().audio).toHaveLength(sound.length);
  });
});

test('no input makes no output', () => {
  const sink = new RecordingSink();
  new Segmenter({ tracks: { video: videoTrack }, sink, partSeconds: 0.2, segmentSeconds: 2 }).finish();
  expect(sink.segments).toEqual([]);
});
