import { describe, expect, test } from 'vitest';
import { parseMediaPlaylist } from '../../../../scripts/parse-media-playlist.ts';
import { LiveWindow } from '../../../../src/live/window/live-window.ts';
import type { MediaPlaylist } from '../../../../src/media/hls/media-playlist.ts';
import { ManualClock, partBytes } from '../../../support/filled-window.ts';

/** The windows of a broadcast: the source's, and others that are aligned with it. */
class Windows {
  readonly #options = {
    targetDurationSeconds: 2,
    windowSeconds: 60,
    maxBytes: 64 * 1024 * 1024,
    clock: new ManualClock(),
    onChange: () => {},
  };
  readonly source = this.begin();
  #mediaMs = 0;

  begin(alignedWith?: LiveWindow): LiveWindow {
    const window = new LiveWindow({ ...this.#options, alignedWith });
    window.useInit(Buffer.from('init 1'));
    window.fixPartTarget(1);
    return window;
  }

  /** A segment of two seconds, in the source and `others`. */
  segment(...others: LiveWindow[]): void {
    const facts = this.source.openSegment({ startMs: this.#mediaMs, isIndependent: true });
    for (const window of others) window.openAlignedSegment(facts, true);
    for (const isIndependent of [true, false]) {
      this.#mediaMs += 1000;
      this.#options.clock.passedMs += 1000;
      const body = Buffer.alloc(partBytes);
      const part = { body, durationSeconds: 1, isIndependent, newestFrameMs: this.#mediaMs };
      for (const window of [this.source, ...others]) window.addPart(part);
    }
    for (const window of [this.source, ...others]) window.closeSegment();
  }

  gap(...others: LiveWindow[]): void {
    this.#options.clock.passedMs += 2000;
    for (const window of [this.source, ...others]) window.addGap(2);
  }
}

async function playlistOf(window: LiveWindow): Promise<MediaPlaylist> {
  const answer = await window.requests.mediaPlaylist(new URLSearchParams(), new AbortController().signal);
  if (answer.status !== 200) throw new Error(`the list was answered ${answer.status}`);
  return parseMediaPlaylist(answer.text.plain.toString());
}

/** URI and discontinuity sequence number of each listed segment, by media sequence number. */
async function numbersOf(window: LiveWindow): Promise<Map<number, string>> {
  const { segments, mediaSequence, discontinuitySequence } = await playlistOf(window);
  let breaks = discontinuitySequence;
  return new Map(
    segments.map(({ uri, discontinuity }, index) => {
      if (discontinuity) breaks += 1;
      return [mediaSequence + index, `${uri} after ${breaks} breaks`];
    }),
  );
}

/** Checks that each segment of `later` has the same number and discontinuity sequence number as in the source, if it is there. */
async function expectSame(later: LiveWindow, source: LiveWindow): Promise<void> {
  const ofSource = await numbersOf(source);
  for (const [sequence, text] of await numbersOf(later)) {
    expect(text.replace('gap-', 'segment-')).toBe(ofSource.get(sequence)?.replace('gap-', 'segment-'));
  }
  expect([...(await numbersOf(later)).keys()].at(-1)).toBe([...ofSource.keys()].at(-1));
}

describe('a window that is aligned with another has its numbers', () => {
  test('from its first segment on', async () => {
    const windows = new Windows();
    for (let count = 0; count < 3; count += 1) windows.segment();
    const later = windows.begin(windows.source);
    windows.segment(later);
    windows.segment(later);
    await expectSame(later, windows.source);
    expect((await playlistOf(later)).segments).toHaveLength(3);
  });

  test.each(['before the window was made', 'behind it'])('with a discontinuity %s', async when => {
    const windows = new Windows();
    for (let count = 0; count < 3; count += 1) windows.segment();
    if (when.startsWith('before')) windows.source.markDiscontinuity();
    const later = windows.begin(windows.source);
    if (when.startsWith('behind')) for (const window of [windows.source, later]) window.markDiscontinuity();
    windows.segment(later);
    windows.segment(later);
    await expectSame(later, windows.source);
    expect((await playlistOf(windows.source)).segments.filter(segment => segment.discontinuity)).toHaveLength(
      1,
    );
  });

  test.each([0, 1, 3])('when the publisher was gone for %i segments before any media', async gaps => {
    const windows = new Windows();
    windows.segment();
    const later = windows.begin(windows.source);
    windows.segment();
    const facts = { sequence: 3, hasDiscontinuity: false, startMs: 2000, programDateTimeMs: 0 };
    later.addMissingSegment(facts, 2);
    for (let count = 0; count < gaps; count += 1) windows.gap(later);
    for (const window of [windows.source, later]) window.markDiscontinuity();
    windows.segment(later);
    windows.segment(later);
    await expectSame(later, windows.source);
  });

  test('when a publisher came and went without a frame', async () => {
    const windows = new Windows();
    windows.segment();
    const first = windows.begin(windows.source);
    windows.source.markDiscontinuity();
    first.markDiscontinuity();
    const second = windows.begin(windows.source);
    windows.gap(first, second);
    for (const window of [windows.source, first, second]) window.markDiscontinuity();
    windows.segment(first, second);
    await expectSame(first, windows.source);
    await expectSame(second, windows.source);
  });
});
