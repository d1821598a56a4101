import { expect, it } from 'vitest';
import { clippableMedia, type DateRange } from '../../../../src/live/window/clippable-media.ts';
import { SegmentLog } from '../../../../src/live/window/segment-log.ts';
import type { SegmentStore } from '../../../../src/live/window/segment-store.ts';
import { writeInitSegment } from '../../../../src/media/cmaf/init-segment.ts';
import { videoTrack } from '../../../support/recording-sink.ts';

const segmentCount = 43_200;

/** A day of segments of two seconds. Every second one begins with a keyframe. */
function aDay() {
  const log = new SegmentLog();
  for (let number = 0; number < segmentCount; number += 1) {
    const isIndependent = number % 2 === 0;
    const segment = { durationSeconds: 2, initNumber: 1, bytes: 1, isGap: false, hasDiscontinuity: false };
    log.append(number, { ...segment, dateMs: number * 2000, isIndependent });
  }
  const init = writeInitSegment([videoTrack]);
  const store = { log, first: 0, init: () => init, segment: () => undefined } as unknown as SegmentStore;
  return (dates?: DateRange) =>
    clippableMedia(store, [], () => ({}) as never, dates)?.segments.map(({ dateMs }) => dateMs / 1000);
}

it('lists the segments of a time, from the keyframe before it, and the last one of all', () => {
  const secondsOf = aDay();
  const last = (segmentCount - 1) * 2;
  expect(secondsOf({ fromMs: 1002_000, untilMs: 1010_000 })).toEqual([1000, 1002, 1004, 1006, 1008, last]);
  expect(secondsOf({ fromMs: 1e9, untilMs: 2e9 })).toEqual([last - 2, last]);
  expect(secondsOf({ fromMs: -1000, untilMs: 0 })).toBeUndefined();
  expect(secondsOf()).toHaveLength(segmentCount);
});
