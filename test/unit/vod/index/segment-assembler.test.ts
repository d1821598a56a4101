import { expect, test } from 'vitest';
import type { FragmentedMovie } from '../../../../src/media/cmaf/fragmented-file.ts';
import { SegmentAssembler } from '../../../../src/vod/index/segment-assembler.ts';

const movie = {
  track: { id: 1, kind: 'audio', timescale: 48_000, sampleRate: 48_000 },
  defaults: new Map(),
  movieTimescale: 1000,
  edit: undefined,
} as unknown as FragmentedMovie;

test('hours of audio that waited for the picture are assembled in many calls', () => {
  const durations: number[] = [];
  let isKnown = false;
  const assembler = new SegmentAssembler(movie, {
    segmentSeconds: 4,
    boundaries: {
      startSeconds: index => (isKnown || index === 0 ? index * 4 : undefined),
      end: () => undefined,
    },
    originSeconds: 10,
    startSeconds: 0,
    onSegment: durationTicks => durations.push(durationTicks),
  });
  assembler.push(
    Array.from({ length: 60_000 }, (_, index) => ({
      trackId: 1,
      dtsTicks: index * 1024,
      durationTicks: 1024,
      compositionOffsetTicks: 0,
      isSync: true,
      position: index * 4,
      sizeBytes: 4,
    })),
  );
  while (assembler.assemble());
  expect(durations).toEqual([]);
  isKnown = true;
  let calls = 1;
  while (assembler.assemble()) calls += 1;
  expect(calls).toBe(3);
  // 1280 s, less the last segment, which waits for its end.
  expect(durations).toHaveLength(319);
});
