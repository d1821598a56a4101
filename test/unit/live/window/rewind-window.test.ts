import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { LiveWindowOptions } from '../../../../src/live/window/live-window.ts';
import type { PartLocation, PartStore } from '../../../../src/live/window/part-store.ts';
import { formatMediaPlaylist } from '../../../../src/media/hls/format-media-playlist.ts';
import type { MediaPlaylist } from '../../../../src/media/hls/media-playlist.ts';
import type { FileSlice } from '../../../../src/shared/files/file-slice.ts';
import type { MediaResponse } from '../../../../src/shared/viewer-responses.ts';
import { FilledWindow, partBytes } from '../../../support/filled-window.ts';

/** A disk that writes at once, later, or not at all, each segment to a file of its own. */
class HandStore implements PartStore {
  mode: 'keeps' | 'waits' | 'full' = 'keeps';
  readonly uses = new Map<number, number>();
  readonly waiting = new Map<number, () => void>();
  readonly canceled: number[] = [];

  write({ sequence }: Parameters<PartStore['write']>[0], onStored: (location: PartLocation) => void): void {
    const keep = () => onStored({ file: sequence, offset: 0 });
    if (this.mode === 'keeps') keep();
    else if (this.mode === 'waits') this.waiting.set(sequence, keep);
  }

  keepWaiting(): void {
    for (const keep of this.waiting.values()) keep();
    this.waiting.clear();
  }

  cancelWrite(sequence: number): void {
    this.canceled.push(sequence);
    this.waiting.delete(sequence);
  }

  retain(file: number): void {
    this.uses.set(file, (this.uses.get(file) ?? 0) + 1);
  }

  release(file: number): void {
    const uses = this.uses.get(file)! - 1;
    if (uses === 0) this.uses.delete(file);
    else this.uses.set(file, uses);
  }

  finish(): void {}

  slice({ file, offset }: PartLocation, bytes: number): FileSlice {
    return { path: `file-${file}`, start: offset, length: bytes };
  }
}

class Rewound extends FilledWindow {
  readonly store: HandStore;

  constructor(seconds: number, options: Partial<LiveWindowOptions> = {}) {
    const store = new HandStore();
    super({ disk: { rewindSeconds: seconds, store }, ...options });
    this.store = store;
  }

  answer(name: string): MediaResponse | undefined {
    const answer = this.window.requests.media(name, new AbortController().signal);
    if (answer instanceof Promise) throw new Error(`${name} is waited for`);
    return answer;
  }

  /** Requests old media, as a viewer who watches does. */
  watch(): void {
    expect(this.origin(`segment-${this.newest - 1}.m4s`)).toBe('disk');
  }

  /** Location of a segment's bytes. */
  origin(name: string): 'memory' | 'disk' | 'nowhere' {
    const answer = this.answer(name);
    if (answer === undefined) return 'nowhere';
    return answer.parts.every(piece => Buffer.isBuffer(piece)) ? 'memory' : 'disk';
  }

  /** Fails when a listed segment cannot be fetched, or the list has a gap. */
  async wholeList(): Promise<MediaPlaylist> {
    const playlist = await this.playlist();
    for (const [index, { uri, gap }] of playlist.segments.entries()) {
      expect(uri).toBe(`${gap ? 'gap' : 'segment'}-${playlist.mediaSequence + index}.m4s`);
      expect(this.origin(uri) === 'nowhere').toBe(gap === true);
    }
    return playlist;
  }
}

const hour = 3600;

function oldestFile({ store }: Rewound): number {
  return Math.min(...store.uses.keys());
}

function seconds({ segments }: MediaPlaylist): number {
  return segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
}

describe('an hour of rewind', () => {
  const filled = new Rewound(hour);
  filled.segments(2499);
  const unwatchedBytes = filled.window.heldBytes;
  filled.watch();
  filled.segments(1);
  filled.begin(2);

  test('is not in memory while nobody watches', () => {
    expect(unwatchedBytes).toBe(0);
  });

  test('is listed without a gap, with the newest two segments in memory for a viewer and the rest on disk', async () => {
    const playlist = await filled.wholeList();
    expect(seconds(playlist)).toBe(hour);
    const origins = playlist.segments.map(({ uri }) => filled.origin(uri));
    expect(origins.lastIndexOf('disk')).toBe(origins.indexOf('memory') - 1);
    expect(origins.filter(origin => origin === 'memory').length).toBe(1);
    expect(filled.window.heldBytes).toBe(6 * partBytes);
  });

  test('gets the same responses from disk as from memory', () => {
    const fromDisk = filled.answer('segment-2000.m4s');
    const fromMemory = filled.answer('segment-2501.m4s');
    expect(fromDisk).toMatchObject({ bytes: 4 * partBytes, etag: `"segment-2000.m4s-${4 * partBytes}"` });
    expect({ ...fromMemory, parts: [], etag: '' }).toEqual({ ...fromDisk, parts: [], etag: '' });
    expect(fromDisk).toMatchObject({ lifetimeSeconds: hour });
  });

  test('has the same text as a playlist that is rendered at once, gzipped too', async () => {
    const answer = await filled.ask();
    if (answer.status !== 200) throw new Error('no list');
    const { plain, gzip, etag } = answer.text;
    expect(gunzipSync(gzip).equals(plain)).toBe(true);
    expect(plain.toString()).toBe(formatMediaPlaylist(await filled.playlist()));
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect(gzip.length).toBeLessThan(plain.length / 4);
  });

  test('has small delta updates that merge with the playlist', async () => {
    const full = await filled.playlist();
    const text = await filled.text('_HLS_skip=YES');
    expect(text.length).toBeLessThan(4000);
    const delta = await filled.playlist('_HLS_skip=YES');
    expect(delta.skippedSegments).toBe(full.segments.length - 6);
    expect([...full.segments.slice(0, delta.skippedSegments), ...delta.segments]).toEqual(full.segments);
    expect(delta.openParts).toEqual(full.openParts);
  });

  test('keeps unlisted segments on disk for the duration of the list', () => {
    const first = 2502 - hour / 2;
    expect(filled.origin(`segment-${first - 1}.m4s`)).toBe('disk');
    // Two hours are 3,600 segments; none has been unlisted long enough.
    expect(oldestFile(filled)).toBeLessThanOrEqual(2);
    const longer = new Rewound(60);
    longer.segments(80);
    expect(oldestFile(longer)).toBe(82 - 30 - 31);
    expect(longer.origin(`segment-${oldestFile(longer)}.m4s`)).toBe('disk');
    expect(longer.origin(`segment-${oldestFile(longer) - 1}.m4s`)).toBe('nowhere');
  });

  test('takes some hundred bytes per segment, text and locations included', () => {
    expect(filled.window.bookkeepingBytes / 1800).toBeLessThan(130);
    expect(filled.store.uses.size).toBeGreaterThan(1800);
  });

  test('keeps parts for seven and a half target durations, in memory or on disk', async () => {
    expect(await filled.media('part-0.m4s')).toBe(404);
    const newest = 2500 * 4 + 1;
    // 7.5 target durations of 2 s, in parts of 0.5 s.
    for (let number = newest - 29; number <= newest; number += 1) {
      expect(await filled.media(`part-${number}.m4s`)).toBe(partBytes);
    }
    expect(await filled.media(`part-${newest - 40}.m4s`)).toBe(404);
  });
});

describe('discontinuities and gaps in old segments', () => {
  test('keep their place', async () => {
    const filled = new Rewound(900);
    const expected = new Map<string, MediaPlaylist['segments'][number]>();
    for (let count = 0; count < 400; count += 1) {
      if (count % 37 === 36) {
        filled.window.markDiscontinuity();
        filled.window.useInit(Buffer.from(`init of ${count}`));
      }
      if (count % 53 === 52) filled.window.addGap(2);
      filled.segment();
      const newest = (await filled.playlist('_HLS_skip=YES')).segments.at(-1)!;
      expected.set(newest.uri, { ...newest, parts: [] });
    }
    const { segments, discontinuitySequence } = await filled.wholeList();
    const breaks = segments.filter(({ discontinuity }) => discontinuity).length;
    expect(discontinuitySequence + breaks).toBe(10);
    expect(segments.filter(({ gap }) => gap).length).toBeGreaterThan(5);
    let map = '';
    for (const segment of segments.slice(0, -6)) {
      map = segment.map?.uri ?? map;
      if (segment.gap) continue;
      const { map: own, ...rest } = expected.get(segment.uri)!;
      expect({ ...segment, map: { uri: map } }).toEqual({ ...rest, map: own ?? { uri: map } });
      expect(filled.answer(map)).toBeDefined();
    }
  });

  test('are not what a viewer can go back to', () => {
    const filled = new Rewound(20);
    const { segments } = filled.window;
    const secondsBack = () => Math.floor((filled.clock.nowMs() - segments.oldestMediaMs!) / 1000);
    expect(segments.oldestMediaMs).toBeUndefined();
    filled.segments(2);
    expect(secondsBack()).toBe(4);
    for (let count = 0; count < 13; count += 1) {
      filled.clock.passedMs += 2000;
      filled.mediaMs += 2000;
      filled.window.addFillerSegment(2, true);
    }
    expect(segments.oldestMediaMs).toBeUndefined();
    filled.segments(3);
    expect(secondsBack()).toBe(6);
    filled.segments(30);
    expect(secondsBack()).toBeLessThan(24);
  });

  test('keep an init section as long as a segment needs it', () => {
    const filled = new Rewound(60);
    filled.segments(10);
    filled.window.markDiscontinuity();
    filled.window.useInit(Buffer.from('init two'));
    filled.segments(40);
    expect(filled.answer('init-1.mp4')).toMatchObject({ bytes: 6, etag: '"init-1.mp4-6"' });
    expect(filled.origin('init-2.mp4')).toBe('memory');
    filled.segments(40);
    expect(filled.origin('init-1.mp4')).toBe('nowhere');
  });
});

describe('a failing disk', () => {
  test('that is full shortens the list to the memory until there is space', async () => {
    const filled = new Rewound(600);
    filled.segments(200);
    expect(seconds(await filled.wholeList())).toBeGreaterThanOrEqual(400);
    filled.store.mode = 'full';
    filled.segments(40);
    const short = await filled.wholeList();
    expect(seconds(short)).toBeGreaterThanOrEqual(15);
    expect(seconds(short)).toBeLessThanOrEqual(18);
    expect(filled.window.heldBytes).toBeLessThan(40 * 4 * partBytes);
    filled.store.mode = 'keeps';
    filled.segments(100);
    expect(seconds(await filled.wholeList())).toBeGreaterThanOrEqual(200);
  });

  test('that is slow ends the list at segments that leave the memory unwritten', async () => {
    const filled = new Rewound(600);
    filled.segments(100);
    filled.store.mode = 'waits';
    filled.segments(5);
    filled.store.keepWaiting();
    filled.segments(6);
    expect(seconds(await filled.wholeList())).toBeGreaterThan(220);
    expect(filled.store.canceled).toEqual([]);
    filled.segments(20);
    expect(filled.store.canceled.length).toBeGreaterThan(10);
    expect(seconds(await filled.wholeList())).toBeLessThan(20);
    // Queued writes hold no bytes beside the segments in memory.
    expect(filled.store.waiting.size).toBeLessThanOrEqual(9);
  });

  test('that hangs collects no writes when nothing beyond the memory is listed', () => {
    const filled = new Rewound(8, { windowSeconds: 6 });
    filled.store.mode = 'waits';
    filled.segments(100);
    expect(filled.store.waiting.size).toBeLessThanOrEqual(20);
  });

  test('that loses one segment unlists all segments before it', async () => {
    const filled = new Rewound(600);
    filled.segments(100);
    filled.store.mode = 'full';
    filled.segment();
    filled.store.mode = 'keeps';
    filled.segments(50);
    const { mediaSequence } = await filled.wholeList();
    expect(mediaSequence).toBe(103);
    // A segment that could be fetched a moment ago still can be.
    expect(filled.origin('segment-100.m4s')).toBe('disk');
  });

  test('unlists segments earlier above the byte limit', async () => {
    const filled = new Rewound(600, { maxBytes: 16 * partBytes });
    filled.segments(100);
    expect(seconds(await filled.wholeList())).toBe(200);
    filled.store.mode = 'full';
    filled.segments(100);
    expect(filled.window.heldBytes).toBeLessThanOrEqual(20 * partBytes);
  });
});

describe('after the end', () => {
  test('everything listed is on disk, and nothing in memory', async () => {
    const filled = new Rewound(600);
    filled.segments(100);
    filled.begin(2);
    filled.window.end();
    expect(filled.window.releaseMemory()).toBe(true);
    expect(filled.window.heldBytes).toBe(0);
    const playlist = await filled.wholeList();
    expect(playlist.endList).toBe(true);
    expect(seconds(playlist)).toBe(201);
    for (const { uri, gap } of playlist.segments) {
      if (!gap) expect(filled.origin(uri)).toBe('disk');
    }
    expect(filled.answer('init-1.mp4')).toBeDefined();
  });

  test('segments that are not on disk stay in memory', () => {
    const filled = new Rewound(600);
    filled.segments(20);
    filled.store.mode = 'waits';
    filled.segments(2);
    filled.window.end();
    expect(filled.window.releaseMemory()).toBe(false);
    expect(filled.origin('segment-23.m4s')).toBe('memory');
    filled.store.keepWaiting();
    expect(filled.window.releaseMemory()).toBe(true);
  });
});

describe('parts that a subscriber writes', () => {
  const claimed = (filled: Rewound, count: number) => {
    filled.open();
    return Array.from({ length: count }, (_, index) => filled.part(index === 0).claim());
  };

  test('are read from its file once it tells where they are, also among others', async () => {
    const filled = new Rewound(600);
    filled.segments(10);
    const [first, second] = claimed(filled, 2);
    filled.part();
    first!({ file: 9999, offset: 40 });
    filled.window.closeSegment();
    const sequence = filled.newest;
    filled.segments(2);
    const partsOf = (name: string) => filled.answer(name)!.parts;
    expect(partsOf(`segment-${sequence}.m4s`)).toEqual([
      { path: 'file-9999', start: 40, length: partBytes },
      expect.any(Buffer),
      { path: `file-${sequence}`, start: 0, length: partBytes },
    ]);
    second!({ file: 9999, offset: 40 + partBytes + 5 });
    filled.segments(20);
    expect(partsOf(`segment-${sequence}.m4s`)).toEqual([
      { path: 'file-9999', start: 40, length: partBytes },
      { path: 'file-9999', start: 45 + partBytes, length: partBytes },
      { path: `file-${sequence}`, start: 0, length: partBytes },
    ]);
    expect(filled.answer(`segment-${sequence}.m4s`)!.bytes).toBe(3 * partBytes);
    filled.segments(700);
    expect(filled.store.uses.has(9999)).toBe(false);
  });

  test('go to the window’s own file when they were not written', () => {
    const filled = new Rewound(600);
    filled.segments(10);
    const claims = claimed(filled, 4);
    claims[0]!({ file: 9999, offset: 0 });
    claims[1]!(undefined);
    filled.window.closeSegment();
    const sequence = filled.newest;
    for (const end of claims.slice(2)) end(undefined);
    filled.segments(2);
    expect(filled.origin(`segment-${sequence}.m4s`)).toBe('disk');
  });

  test('that are never written leave the memory', () => {
    const filled = new Rewound(600);
    filled.segments(10);
    const ends = claimed(filled, 4);
    filled.window.closeSegment();
    filled.segments(100);
    expect(filled.window.heldBytes).toBe(0);
    for (const end of ends) end({ file: 9999, offset: 0 });
    expect(filled.store.uses.has(9999)).toBe(false);
  });
});

describe('the memory of parts that are on disk', () => {
  /** Fills a window whose newest segment has one part. */
  const filledTo = (mode: HandStore['mode'] = 'keeps') => {
    const filled = new Rewound(600);
    filled.segments(10);
    filled.watch();
    filled.store.mode = mode;
    filled.open();
    const part = filled.part(true);
    filled.window.closeSegment();
    return { filled, part, name: `segment-${filled.newest}.m4s` };
  };

  test('is freed at once when nobody watches', () => {
    const filled = new Rewound(600);
    filled.segments(10);
    filled.open();
    const part = filled.part(true);
    const stored = part.claim();
    expect(part.body.length).toBe(partBytes);
    stored({ file: 9999, offset: 0 });
    expect(part.body.length).toBe(0);
    expect(filled.window.heldBytes).toBe(0);
  });

  test('is freed when nobody has them', () => {
    const { filled, part, name } = filledTo();
    expect(part.body.length).toBe(partBytes);
    filled.segments(1);
    expect(part.body.length).toBe(0);
    expect(filled.origin(name)).toBe('disk');
  });

  test('stays when a viewer got them', () => {
    const { filled, part, name } = filledTo();
    const answer = filled.answer(name)!;
    filled.segments(10);
    expect(answer.parts).toEqual([part.body]);
    expect(part.body.length).toBe(partBytes);
  });

  test('stays as long as a subscriber holds them', () => {
    const { filled, part } = filledTo();
    const releases = [part.hold(), part.hold()];
    filled.segments(10);
    releases[0]!();
    expect(part.body.length).toBe(partBytes);
    releases[1]!();
    expect(part.body.length).toBe(0);
  });

  test('stays until a slow disk has written them', () => {
    const { filled, part } = filledTo('waits');
    filled.segments(2);
    expect(part.body.length).toBe(partBytes);
    filled.store.keepWaiting();
    expect(part.body.length).toBe(0);
  });

  test('is left alone when it is a view of something larger', () => {
    const filled = new Rewound(600);
    filled.segments(10);
    filled.open();
    const larger = Buffer.alloc(2 * partBytes);
    filled.window.addPart({
      body: larger.subarray(0, partBytes),
      durationSeconds: 0.5,
      isIndependent: true,
      newestFrameMs: filled.mediaMs,
    });
    filled.window.closeSegment();
    filled.segments(10);
    expect(larger.length).toBe(2 * partBytes);
  });
});

test('a day of two-second segments keeps its numbers while the log grows', async () => {
  const filled = new Rewound(24 * hour);
  for (let count = 0; count < 20_000; count += 1) filled.segment(1);
  const text = await filled.text('_HLS_skip=YES');
  // Segments of half a second.
  expect(text).toContain('#EXT-X-SKIP:SKIPPED-SEGMENTS=19976');
  expect(filled.origin('segment-4.m4s')).toBe('disk');
  expect(filled.window.bookkeepingBytes / 20_000).toBeLessThan(130);
});
