import { expect, test } from 'vitest';
import { Generation, type GenerationOptions } from '../../../src/live/generation.ts';
import type { LadderForm } from '../../../src/live/ladder-form.ts';
import { systemClock } from '../../../src/shared/clock.ts';
import { silentLogger } from '../../../src/shared/logger.ts';
import { avc, FakePackager } from './fake-media.ts';

const form: LadderForm = {
  isLadder: true,
  mark: undefined,
  steps: () => [],
  startEncoder: () => {
    throw new Error('nothing is to be encoded');
  },
};

test('picture that waits for the end of the generation before holds its publisher off when it is too much', async () => {
  const before = Promise.withResolvers<void>();
  let isDrained = false;
  const generation = new Generation({
    stage: {} as GenerationOptions['stage'],
    form,
    before: before.promise,
    isStandIn: false,
    settings: { partTargetMs: 200, maxPixels: 9_437_184, segmentTargetMs: 2000 },
    observer: {} as GenerationOptions['observer'],
    clock: systemClock,
    log: silentLogger,
  });
  const packager = new FakePackager({ hasVideo: true, audio: 'none' }, {} as never);
  const tapped = generation.tapped(packager, () => {
    isDrained = true;
  });
  const megabyte = avc.keyframe(1024 * 1024);
  const answers = Array.from({ length: 20 }, (_, index) =>
    tapped.write('video', index * 40, megabyte, false),
  );
  expect(answers[0]).toBe(true);
  expect(answers.at(-1)).toBe(false);
  expect(isDrained).toBe(false);
  before.resolve();
  await before.promise;
  await Promise.resolve();
  expect(isDrained).toBe(true);
  expect(tapped.write('video', 800, megabyte, false)).toBe(true);
});
