import { expect, test } from 'vitest';
import {
  PackagingSession,
  type PackagingSessionOptions,
} from '../../../../src/live/packaging/packaging-session.ts';
import type { LadderConfig } from '../../../../src/live/transcode/ladder-config.ts';
import { systemClock } from '../../../../src/shared/clock.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { avc, FakePackager, videoTag } from '../../../support/fake-broadcasts.ts';
import { mediaOf } from '../../../support/media-samples.ts';

const ladder: LadderConfig = {
  isLadder: true,
  watermark: undefined,
  renditionsFor: () => [],
  startEncoder: () => {
    throw new Error('nothing is to be encoded');
  },
};

test('video that waits for the previous session pauses the publisher when it is too much', async () => {
  const before = Promise.withResolvers<void>();
  let isDrained = false;
  const generation = new PackagingSession({
    ...({} as Pick<PackagingSessionOptions, 'host' | 'renditions' | 'notifier' | 'arrivals'>),
    ladder,
    startTrackPackager: (plan, events) => new FakePackager(plan, events),
    previousDone: before.promise,
    isSlate: false,
    settings: { partTargetMs: 200, maxPixels: 9_437_184, segmentTargetMs: 2000 },
    observer: {} as PackagingSessionOptions['observer'],
    clock: systemClock,
    log: silentLogger,
  });
  const packager = new FakePackager({ hasVideo: true, audio: 'none' }, {} as never);
  const tapped = generation.withEncoderTap(packager, () => {
    isDrained = true;
  });
  const megabyte = mediaOf(videoTag(0, avc.keyframe(1024 * 1024)));
  const answers = Array.from({ length: 20 }, (_, index) => tapped.write(megabyte, index * 40));
  expect(answers[0]).toBe(true);
  expect(answers.at(-1)).toBe(false);
  expect(isDrained).toBe(false);
  before.resolve();
  await before.promise;
  await Promise.resolve();
  expect(isDrained).toBe(true);
  expect(tapped.write(megabyte, 800)).toBe(true);
});
