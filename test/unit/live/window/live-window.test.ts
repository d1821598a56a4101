import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { parseMediaPlaylist } from '../../../../scripts/parse-media-playlist.ts';
import type { FillerWriter } from '../../../../src/live/packaging/filler-writer.ts';
import type { Part } from '../../../../src/live/packaging/segmenter.ts';
import type { MediaPlaylist } from '../../../../src/media/hls/media-playlist.ts';
import { FilledWindow, partBytes, partSeconds } from '../../../support/filled-window.ts';

/** Returns `pending`, or the settled value of the promise. */
async function stateOf<Result>(promise: Promise<Result>): Promise<Result | 'pending'> {
  const { promise: later, resolve } = Promise.withResolvers<'pending'>();
  setImmediate(() => resolve('pending'));
  return Promise.race([promise, later]);
}

/** Listed parts without gaps, those of the open segment last. */
function partsOf(playlist: MediaPlaylist): string[] {
  return [...playlist.segments, ...(playlist.openParts === undefined ? [] : [playlist.openParts])].flatMap(
    segment => segment.parts.filter(part => !part.gap).map(part => part.uri),
  );
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  expect(vi.getTimerCount(), 'timers left behind').toBe(0);
  vi.useRealTimers();
});

describe('before the first part', () => {
  test('there is no playlist and no hinted part', async () => {
    const filled = new FilledWindow();
    expect((await filled.ask()).status).toBe(404);
    filled.open();
    expect((await filled.ask('_HLS_msn=1')).status).toBe(404);
    expect(await filled.media('part-0.m4s')).toBe(404);
    filled.window.end();
    expect((await filled.ask()).status).toBe(404);
  });
});

describe('the first playlist', () => {
  test('is blocked until players can start: three parts', async () => {
    const filled = new FilledWindow();
    filled.begin(1);
    const asked = filled.ask();
    filled.part();
    expect(await stateOf(asked)).toBe('pending');
    filled.part();
    expect(await asked).toMatchObject({ status: 200, isBlockingReload: false });
  });

  test('is returned with the first part when a client asks for a segment that is gone', async () => {
    const filled = new FilledWindow();
    filled.begin(1);
    expect(await filled.ask('_HLS_msn=0')).toMatchObject({ status: 200, isBlockingReload: false });
    expect(await filled.ask('_HLS_part=0')).toMatchObject({ status: 400 });
    filled.window.end();
  });

  test('is returned after a target duration at the latest', async () => {
    const filled = new FilledWindow();
    filled.begin(1);
    const asked = filled.ask();
    await vi.advanceTimersByTimeAsync(1999);
    expect(await stateOf(asked)).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(await asked).toMatchObject({ status: 200 });
  });

  test('has a gap before the open segment, so that it is not empty', async () => {
    const filled = new FilledWindow();
    filled.begin(3);
    const { segments, openParts, mediaSequence } = await filled.playlist();
    expect(mediaSequence).toBe(1);
    expect(segments).toHaveLength(1);
    const [lead] = segments;
    expect(lead?.gap).toBe(true);
    expect(lead!.programDateTimeMs! + lead!.durationSeconds * 1000).toBe(openParts?.programDateTimeMs);
    for (const uri of [lead!.uri, ...lead!.parts.map(part => part.uri)])
      expect(await filled.media(uri)).toBe(404);
  });
});

describe('a playlist in the middle of a broadcast', () => {
  test('has valid server control attributes', async () => {
    const filled = new FilledWindow();
    filled.segments(8);
    filled.begin(2);
    const playlist = await filled.playlist();
    expect(playlist).toMatchObject({
      version: 6,
      targetDurationSeconds: 2,
      partTargetSeconds: 0.5,
      independentSegments: true,
      serverControl: {
        canBlockReload: true,
        partHoldBackSeconds: 1.5,
        holdBackSeconds: 6,
        canSkipUntilSeconds: 12,
      },
      endList: false,
      renditionReports: [],
    });
    expect(playlist.playlistType).toBeUndefined();
  });

  test('numbers its parts consecutively, and hints the next number', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    filled.begin(3);
    const playlist = await filled.playlist();
    expect(partsOf(playlist)).toEqual(Array.from({ length: 11 }, (_, index) => `part-${index}.m4s`));
    expect(playlist.preloadHints).toEqual([{ type: 'PART', uri: 'part-11.m4s' }]);
  });

  test('keeps its hint when a segment closes, and when the next one is not independent', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    expect((await filled.playlist()).preloadHints).toEqual([{ type: 'PART', uri: 'part-8.m4s' }]);
    filled.open(false);
    filled.part();
    const playlist = await filled.playlist();
    expect(playlist.openParts?.parts.map(part => part.uri)).toEqual(['part-8.m4s']);
    expect(playlist.independentSegments).toBe(false);
  });

  test('unlists parts after three target durations, and they can still be fetched', async () => {
    const filled = new FilledWindow();
    filled.segments(7);
    filled.begin(1);
    const playlist = await filled.playlist();
    const listed = partsOf(playlist);
    const seconds = listed.length * partSeconds;
    expect(seconds).toBeGreaterThanOrEqual(6);
    expect(seconds).toBeLessThanOrEqual(6 + 2 + partSeconds);
    expect(listed.at(-1)).toBe('part-28.m4s');
    expect(await filled.media('part-0.m4s')).toBe(partBytes);
  });

  test('has segments that consist of their parts', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    const { segments } = await filled.playlist();
    for (const segment of segments.filter(({ gap }) => !gap)) {
      expect(await filled.media(segment.uri)).toBe(4 * partBytes);
      expect(segment.durationSeconds).toBeCloseTo(2, 5);
    }
  });

  test('dates every segment by its media', async () => {
    const filled = new FilledWindow();
    filled.segments(6);
    const { segments } = await filled.playlist();
    for (const [index, segment] of segments.slice(1).entries()) {
      const former = segments[index]!;
      const stepMs = segment.programDateTimeMs! - former.programDateTimeMs! - former.durationSeconds * 1000;
      // Dates approach the arrival.
      expect(stepMs).toBeGreaterThanOrEqual(0);
      expect(stepMs).toBeLessThanOrEqual(100);
    }
  });
});

describe('unlisting', () => {
  test('removes the first segments of a full window, and numbers never decrease', async () => {
    const filled = new FilledWindow();
    let former = 0;
    for (let count = 0; count < 20; count += 1) {
      filled.segment();
      const { mediaSequence, segments } = await filled.playlist();
      expect(mediaSequence).toBeGreaterThanOrEqual(former);
      expect(segments.at(-1)!.uri).toBe(`segment-${mediaSequence + segments.length - 1}.m4s`);
      former = mediaSequence;
    }
    const { segments } = await filled.playlist();
    expect(segments.reduce((sum, segment) => sum + segment.durationSeconds, 0)).toBe(16);
  });

  test('keeps a removed segment for its duration and that of the longest list', async () => {
    const filled = new FilledWindow();
    filled.segments(8);
    const { segments } = await filled.playlist();
    const firstReal = segments.find(segment => !segment.gap)!.uri;
    filled.segment();
    expect((await filled.playlist()).segments.some(({ uri }) => uri === firstReal)).toBe(false);
    // The segment's 2 s and the playlist's 16 s: it may be removed nine segments later.
    filled.segments(8);
    expect(await filled.media(firstReal)).toBe(4 * partBytes);
    filled.segments(3);
    expect(await filled.media(firstReal)).toBe(404);
    expect(await filled.media('part-0.m4s')).toBe(404);
  });

  test('keeps three target durations of short segments with any window', async () => {
    const filled = new FilledWindow({ targetDurationSeconds: 10 });
    filled.segments(40);
    const { segments } = await filled.playlist();
    expect(segments.reduce((sum, segment) => sum + segment.durationSeconds, 0)).toBeGreaterThanOrEqual(30);
  });

  test('keeps six long segments with any window', async () => {
    const filled = new FilledWindow({ targetDurationSeconds: 4, windowSeconds: 6 });
    for (let count = 0; count < 12; count += 1) filled.segment(8);
    expect((await filled.playlist()).segments).toHaveLength(6);
  });

  test('above the byte limit drops removed segments at once, and shortens the list to three target durations', async () => {
    const filled = new FilledWindow({ maxBytes: 20 * partBytes });
    for (let count = 0; count < 30; count += 1) {
      filled.segment();
      expect(filled.window.heldBytes).toBeLessThanOrEqual(24 * partBytes);
    }
    const { segments } = await filled.playlist();
    const seconds = segments.reduce((sum, segment) => sum + segment.durationSeconds, 0);
    expect(seconds).toBeGreaterThanOrEqual(6);
    expect(seconds).toBeLessThanOrEqual(10);
    for (const segment of segments) expect(await filled.media(segment.uri)).toBe(4 * partBytes);
  });

  test('holds the bytes of everything that can be fetched', async () => {
    const filled = new FilledWindow();
    filled.segments(60);
    let fetched = 0;
    for (let sequence = 0; sequence < 70; sequence += 1) {
      const bytes = await filled.media(`segment-${sequence}.m4s`);
      if (bytes !== 404) fetched += Number(bytes);
    }
    expect(filled.window.heldBytes).toBe(fetched);
  });
});

describe('discontinuities', () => {
  test('come with a new init section, which is hinted before it is listed', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    filled.window.markDiscontinuity();
    filled.window.useInit(Buffer.from('init two'));
    expect((await filled.playlist()).preloadHints).toEqual([
      { type: 'MAP', uri: 'init-2.mp4' },
      { type: 'PART', uri: 'part-8.m4s' },
    ]);
    filled.begin(1);
    const playlist = await filled.playlist();
    expect(playlist.openParts).toMatchObject({ discontinuity: true, map: { uri: 'init-2.mp4' } });
    expect(playlist.openParts?.parts.map(part => part.uri)).toEqual(['part-8.m4s']);
    expect(playlist.preloadHints).toEqual([{ type: 'PART', uri: 'part-9.m4s' }]);
    expect(await filled.media('init-1.mp4')).toBe(6);
    expect(await filled.media('init-2.mp4')).toBe(8);
  });

  test('the same init section keeps its name', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    filled.window.markDiscontinuity();
    filled.window.useInit(Buffer.from('init 1'));
    filled.begin(1);
    expect((await filled.playlist()).openParts).toMatchObject({ discontinuity: true });
    expect(await filled.media('init-2.mp4')).toBe(404);
  });

  test('do not occur before the first part', async () => {
    const filled = new FilledWindow();
    filled.window.markDiscontinuity();
    filled.begin(3);
    expect(await filled.text()).not.toContain('EXT-X-DISCONTINUITY\n');
  });

  test('increase the discontinuity sequence when their tag leaves the list', async () => {
    const filled = new FilledWindow();
    const numbers = new Map<string, number>();
    for (let count = 0; count < 40; count += 1) {
      if (count % 5 === 4) filled.window.markDiscontinuity();
      filled.segment();
      const playlist = await filled.playlist();
      let number = playlist.discontinuitySequence;
      for (const segment of playlist.segments) {
        if (segment.discontinuity) number += 1;
        expect(numbers.get(segment.uri) ?? number, segment.uri).toBe(number);
        numbers.set(segment.uri, number);
      }
    }
    expect((await filled.playlist()).discontinuitySequence).toBeGreaterThan(4);
  });

  test('init sections are removed with their last segment', async () => {
    const filled = new FilledWindow();
    for (let count = 0; count < 12; count += 1) {
      filled.window.markDiscontinuity();
      filled.window.useInit(Buffer.from(`init ${count}`));
      filled.segments(2);
    }
    filled.clock.passedMs += 600_000;
    filled.segments(30);
    const left: string[] = [];
    for (let number = 1; number <= 20; number += 1) {
      if ((await filled.media(`init-${number}.mp4`)) !== 404) left.push(`init-${number}.mp4`);
    }
    expect(left).toEqual(['init-13.mp4']);
  });

  test('many segments that are removed at once take their init section with them', async () => {
    const filled = new FilledWindow();
    filled.segments(8);
    filled.window.markDiscontinuity();
    filled.window.useInit(Buffer.from('init two'));
    filled.segments(8);
    filled.clock.passedMs += 600_000;
    filled.segments(2);
    expect(await filled.media('init-1.mp4')).toBe(404);
    expect(await filled.media('init-2.mp4')).toBe(8);
  });

  test('a segment opened without a part leaves its discontinuity to the next', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    filled.window.markDiscontinuity();
    filled.open();
    filled.window.closeSegment();
    filled.begin(1);
    expect((await filled.playlist()).openParts?.discontinuity).toBe(true);
  });
});

describe('gaps without a publisher', () => {
  test('close the open segment and continue its dates', async () => {
    const filled = new FilledWindow();
    filled.segments(3);
    filled.begin(2);
    filled.clock.passedMs += 2000;
    filled.window.addGap(2);
    filled.clock.passedMs += 2000;
    filled.window.addGap(2);
    const playlist = await filled.playlist();
    expect(playlist.openParts).toBeUndefined();
    const [last, ...gaps] = playlist.segments.slice(-3);
    expect(last?.durationSeconds).toBe(1);
    expect(gaps.map(({ gap, durationSeconds, parts }) => [gap, durationSeconds, parts])).toEqual([
      [true, 2, []],
      [true, 2, []],
    ]);
    expect(gaps[0]!.programDateTimeMs).toBe(last!.programDateTimeMs! + 1000);
    expect(gaps[1]!.programDateTimeMs).toBe(last!.programDateTimeMs! + 3000);
    expect(await filled.media(gaps[0]!.uri)).toBe(404);
    filled.clock.passedMs += 300;
    filled.window.markDiscontinuity();
    filled.mediaMs += 77;
    filled.begin(1);
    const after = await filled.playlist();
    expect(after.openParts?.discontinuity).toBe(true);
    // A quarter of a second before its arrival.
    expect(after.openParts?.programDateTimeMs).toBe(last!.programDateTimeMs! + 5050);
    expect(partsOf(after).at(-1)).toBe(after.openParts?.parts.at(-1)?.uri);
  });

  test('unblock requests for a segment and for its parts', async () => {
    const filled = new FilledWindow();
    filled.segments(3);
    const whole = filled.ask('_HLS_msn=5');
    const part = filled.ask('_HLS_msn=5&_HLS_part=0');
    expect(await stateOf(whole)).toBe('pending');
    filled.window.addGap(2);
    expect(await whole).toMatchObject({ status: 200 });
    expect(await part).toMatchObject({ status: 200 });
  });

  test('never decrease a date', async () => {
    const filled = new FilledWindow();
    filled.segments(3);
    for (let count = 0; count < 12; count += 1) {
      filled.clock.passedMs += 2000;
      filled.window.addGap(2);
    }
    filled.window.markDiscontinuity();
    filled.segments(2);
    const dates = (await filled.playlist()).segments.map(segment => segment.programDateTimeMs!);
    expect(dates).toEqual(dates.toSorted((a, b) => a - b));
    expect(dates.at(-1)).toBeLessThanOrEqual(filled.clock.nowMs());
  });
});

describe('dates', () => {
  test('of a publisher that is faster than real time rise, and overlap by less than a second', async () => {
    const filled = new FilledWindow();
    for (let count = 0; count < 8; count += 1) {
      filled.open();
      for (let index = 0; index < 4; index += 1) {
        filled.part(index === 0);
        filled.clock.passedMs -= 300;
      }
      filled.window.closeSegment();
    }
    const { segments } = await filled.playlist();
    for (const [index, { programDateTimeMs }] of segments.slice(1).entries()) {
      const before = segments[index]!;
      expect(programDateTimeMs!).toBeGreaterThan(before.programDateTimeMs!);
      const endMs = before.programDateTimeMs! + before.durationSeconds * 1000;
      expect(programDateTimeMs!).toBeGreaterThan(endMs - 1000);
    }
  });

  test('start at a new anchor behind a discontinuity when a publisher lost seconds', async () => {
    const filled = new FilledWindow();
    filled.segments(3);
    filled.clock.passedMs += 7000;
    filled.segments(1);
    filled.begin(1);
    const { segments, openParts } = await filled.playlist();
    expect(openParts?.discontinuity).toBe(true);
    // A quarter of a second before its arrival. The segment before it might have caught up.
    expect(openParts!.programDateTimeMs! - segments.at(-1)!.programDateTimeMs!).toBe(8750);
  });
});

// Segments 2, 3 and 4 are complete, with four parts each; 1 is the gap in front. Segment 5 has two parts.
describe('blocking reloads', () => {
  async function inTheMiddle(): Promise<FilledWindow> {
    const filled = new FilledWindow();
    filled.segments(3);
    filled.begin(2);
    return filled;
  }

  test.each([
    ['a complete segment', '_HLS_msn=4', true],
    ['a listed part', '_HLS_msn=4&_HLS_part=3', true],
    ['a part of the open segment', '_HLS_msn=5&_HLS_part=1', true],
    [
      'one past the last part of a closed segment, that is, part 0 of the open one',
      '_HLS_msn=4&_HLS_part=4',
      true,
    ],
    ['far past the last part of a closed segment', '_HLS_msn=4&_HLS_part=9', true],
    ['what is no longer listed', '_HLS_msn=0', false],
    ['a part of what is no longer listed', '_HLS_msn=0&_HLS_part=7', false],
    ['the gap in front', '_HLS_msn=1&_HLS_part=3', false],
    ['other parameters', 'token=a&_HLS_msn=4&x=y', true],
  ])(
    '%s gets the whole playlist at once, and can be cached as a blocking reload: $2',
    async (_, query, isBlockingReload) => {
      const filled = await inTheMiddle();
      const plain = await filled.text();
      expect(await stateOf(filled.text(query))).toBe(plain);
      expect(await filled.ask(query)).toMatchObject({ isBlockingReload });
    },
  );

  test.each([
    ['the next part', '_HLS_msn=5&_HLS_part=2', 1],
    ['the part after it', '_HLS_msn=5&_HLS_part=3', 2],
    ['the open segment', '_HLS_msn=5', 3],
    ['an index past its end, before it is closed', '_HLS_msn=5&_HLS_part=4', 4],
    ['a far index past its end', '_HLS_msn=5&_HLS_part=9', 4],
    ['part 0 of the next segment', '_HLS_msn=6&_HLS_part=0', 4],
    ['part 1 of the next segment', '_HLS_msn=6&_HLS_part=1', 5],
    ['the next segment', '_HLS_msn=6', 8],
  ])('%s is blocked until it is there', async (_, query, steps) => {
    const filled = await inTheMiddle();
    const fill = [
      () => filled.part(),
      () => filled.part(),
      () => filled.window.closeSegment(),
      () => filled.begin(1),
      () => filled.part(),
      () => filled.part(),
      () => filled.part(),
      () => filled.window.closeSegment(),
    ];
    const asked = filled.text(query);
    const answer = filled.ask(query);
    for (const step of fill.slice(0, steps)) {
      expect(await stateOf(asked)).toBe('pending');
      step();
    }
    expect(await stateOf(asked)).toBe(await filled.text());
    expect(await answer).toMatchObject({ isBlockingReload: true });
  });

  test.each([
    ['a part without a segment', '_HLS_part=1'],
    ['garbage', '_HLS_msn=abc'],
    ['a negative number', '_HLS_msn=-1'],
    ['a fraction', '_HLS_msn=4.5'],
    ['two segments past the open one', '_HLS_msn=7'],
    ['a segment far ahead', '_HLS_msn=4000000000'],
    // 3 / 0.5 parts of the advance limit and 2 / 0.5 of a segment, after part 1.
    ['a part too far ahead', '_HLS_msn=5&_HLS_part=12'],
    ['a part too far ahead in the next segment', '_HLS_msn=6&_HLS_part=10'],
  ])('%s is refused at once', async (_, query) => {
    const filled = await inTheMiddle();
    expect(await stateOf(filled.ask(query))).toMatchObject({ status: 400 });
  });

  test('a part just within the limit is blocked', async () => {
    const filled = await inTheMiddle();
    const leave = new AbortController();
    const asked = filled.ask('_HLS_msn=5&_HLS_part=11', leave.signal);
    expect(await stateOf(asked)).toBe('pending');
    leave.abort();
    expect(await asked).toMatchObject({ status: 503 });
  });

  test('a request gets 503 after three target durations', async () => {
    const filled = await inTheMiddle();
    const asked = filled.ask('_HLS_msn=5&_HLS_part=2');
    await vi.advanceTimersByTimeAsync(5999);
    expect(await stateOf(asked)).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(await asked).toMatchObject({ status: 503 });
  });

  test('all requests for one part get the same bytes', async () => {
    const filled = await inTheMiddle();
    const asked = Array.from({ length: 40 }, () => filled.ask('_HLS_msn=5&_HLS_part=2'));
    filled.part();
    const answers = await Promise.all(asked);
    const texts = new Set(answers.map(answer => (answer.status === 200 ? answer.text : undefined)));
    expect(texts.size).toBe(1);
    expect(texts.has(undefined)).toBe(false);
  });

  test('an aborted request is not blocked', async () => {
    const filled = await inTheMiddle();
    const gone = AbortSignal.abort();
    expect(await filled.ask('_HLS_msn=5&_HLS_part=2', gone)).toMatchObject({ status: 503 });
  });
});

describe('delta updates', () => {
  test('skip segments before CAN-SKIP-UNTIL and merge without a gap', async () => {
    const filled = new FilledWindow();
    filled.segments(9);
    filled.begin(2);
    const full = await filled.playlist();
    for (const query of ['_HLS_skip=YES', '_HLS_skip=v2', '_HLS_msn=10&_HLS_part=1&_HLS_skip=YES']) {
      const delta = await filled.playlist(query);
      expect(delta.version).toBe(9);
      expect(delta.mediaSequence).toBe(full.mediaSequence);
      expect(delta.skippedSegments).toBe(full.segments.length - 6);
      expect([...full.segments.slice(0, delta.skippedSegments), ...delta.segments]).toEqual(full.segments);
      expect(delta.openParts).toEqual(full.openParts);
      expect(delta.preloadHints).toEqual(full.preloadHints);
    }
  });

  test('are whole playlists when there is nothing to skip', async () => {
    const filled = new FilledWindow();
    filled.segments(3);
    expect(await filled.text('_HLS_skip=YES')).toBe(await filled.text());
  });

  test('are returned only for the values YES and v2', async () => {
    const filled = new FilledWindow();
    filled.segments(9);
    expect((await filled.playlist()).skippedSegments).toBeUndefined();
    expect((await filled.playlist('_HLS_skip=no')).skippedSegments).toBeUndefined();
  });
});

describe('the hinted part', () => {
  test('is blocked and returned whole when it comes', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    const asked = Promise.resolve(filled.media('part-8.m4s'));
    expect(await stateOf(asked)).toBe('pending');
    filled.begin(1);
    expect(await asked).toBe(partBytes);
  });

  test.each([
    'part-9.m4s',
    'part-08.m4s',
    'part-x.m4s',
    'part-8.mp4',
    'segment-99.m4s',
    'segment-1.m4s',
    'init-9.mp4',
    '',
    '__proto__',
  ])('%j was never hinted and is not found at once', async name => {
    const filled = new FilledWindow();
    filled.segments(2);
    expect(await stateOf(filled.media(name))).toBe(404);
  });

  test('is the next one when another init section comes before it', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    const held = filled.media('part-8.m4s');
    const asked = filled.ask('_HLS_msn=4&_HLS_part=0');
    filled.window.markDiscontinuity();
    filled.window.useInit(Buffer.from('init two'));
    expect(await stateOf(asked)).toBe('pending');
    filled.begin(1);
    expect(await held).toBe(partBytes);
    expect(await asked).toMatchObject({ status: 200 });
  });

  test('is not found when it does not come', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    const late = filled.media('part-8.m4s');
    await vi.advanceTimersByTimeAsync(6000);
    expect(await late).toBe(404);
    const ended = filled.media('part-8.m4s');
    filled.window.end();
    expect(await ended).toBe(404);
    expect(await stateOf(filled.media('part-8.m4s'))).toBe(404);
  });
});

describe('the end', () => {
  test('closes the open segment, responds to everyone with EXT-X-ENDLIST, and lists no hint and no parts', async () => {
    const filled = new FilledWindow();
    filled.segments(9);
    filled.begin(2);
    const asked = [filled.text('_HLS_msn=11&_HLS_part=3'), filled.text('_HLS_msn=12&_HLS_skip=YES')];
    filled.window.end();
    filled.window.end();
    const text = await filled.text();
    for (const held of asked) expect(await held).toBe(text);
    const playlist = parseMediaPlaylist(text);
    expect(playlist).toMatchObject({ endList: true, preloadHints: [] });
    expect(playlist.skippedSegments).toBeUndefined();
    expect(partsOf(playlist)).toEqual([]);
    expect(playlist.segments.at(-1)?.durationSeconds).toBe(1);
    for (const segment of playlist.segments) expect(await filled.media(segment.uri)).not.toBe(404);
  });

  test('adds nothing afterwards', async () => {
    const filled = new FilledWindow();
    filled.segments(2);
    filled.window.end();
    const text = await filled.text();
    filled.segment();
    expect(await filled.text()).toBe(text);
  });

  test('ignores delivery directives afterwards', async () => {
    const filled = new FilledWindow();
    filled.segments(9);
    filled.window.end();
    const text = await filled.text();
    for (const query of ['_HLS_msn=9999', '_HLS_part=3', '_HLS_msn=x', '_HLS_skip=YES']) {
      expect(await stateOf(filled.text(query))).toBe(text);
      expect(await filled.ask(query)).toMatchObject({ isComplete: true, isBlockingReload: false });
    }
  });
});

describe('bandwidth', () => {
  test('is the peak of any segment and the average of all, without gaps and the short first one', () => {
    const filled = new FilledWindow();
    filled.open();
    filled.part(true, 100_000);
    filled.window.closeSegment();
    filled.segments(2);
    filled.open();
    for (let index = 0; index < 4; index += 1) filled.part(index === 0, 3 * partBytes);
    filled.window.closeSegment();
    filled.window.addGap(2);
    const { peakBitsPerSecond, averageBitsPerSecond } = filled.window.measureBandwidth();
    expect(averageBitsPerSecond).toBeCloseTo(((100_000 + 20 * partBytes) * 8) / 6.5, 0);
    expect(peakBitsPerSecond).toBe(Math.max(averageBitsPerSecond, 48_000));
  });

  test('of the open segment is estimated over at least half a target duration', () => {
    const filled = new FilledWindow({ targetDurationSeconds: 4 });
    expect(filled.window.estimateOpenBitsPerSecond()).toBeUndefined();
    filled.open();
    filled.part(true, 10_000);
    expect(filled.window.estimateOpenBitsPerSecond()).toBe((10_000 * 8) / partSeconds);
    filled.part(false, 1000);
    expect(filled.window.estimateOpenBitsPerSecond()).toBe((13_000 * 8) / 2);
    for (let parts = 0; parts < 4; parts += 1) filled.part(false, 2000);
    expect(filled.window.estimateOpenBitsPerSecond()).toBe((19_000 * 8) / 3);
  });

  test('of the segments before the first one is that of the runs with them, while they are listed', () => {
    const filler = {
      leadIns: (first: Part, count: number) =>
        Array.from({ length: count }, () => ({ ...first, durationSeconds: 0.1 })),
      add: (part: Part) => part,
      keeps: () => false,
    } as unknown as FillerWriter;
    const filled = new FilledWindow({ filler });
    expect(filled.window.leadInBitsPerSecond).toBe(0);
    filled.open();
    filled.part(true, 10_000);
    // The open segment is as yet one of a second at the rate of its first part.
    expect(filled.window.leadInBitsPerSecond).toBeCloseTo(((30_000 + 20_000) * 8) / 1.3);
    for (let parts = 0; parts < 3; parts += 1) filled.part();
    filled.window.closeSegment();
    expect(filled.window.leadInBitsPerSecond).toBeCloseTo(((30_000 + 13_000) * 8) / 2.3);
    filled.segments(20);
    expect(filled.window.leadInBitsPerSecond).toBe(0);
  });

  test('is 0 without segments', () => {
    expect(new FilledWindow().window.measureBandwidth()).toEqual({
      peakBitsPerSecond: 0,
      averageBitsPerSecond: 0,
    });
  });
});

test('makes room for a longer keyframe interval until something is listed', async () => {
  const filled = new FilledWindow();
  filled.window.useKeyframeInterval(1);
  expect(filled.window.targetDurationSeconds).toBe(2);
  filled.window.useKeyframeInterval(3.4);
  filled.begin(6);
  filled.window.useKeyframeInterval(8);
  expect(await filled.playlist()).toMatchObject({
    targetDurationSeconds: 3,
    serverControl: { holdBackSeconds: 9, canSkipUntilSeconds: 18 },
  });
  const endless = new FilledWindow();
  endless.window.useKeyframeInterval(600);
  expect(endless.window.targetDurationSeconds).toBe(10);
});

test('reports every change', () => {
  const filled = new FilledWindow();
  filled.segment();
  expect(filled.changes).toBe(5);
});
