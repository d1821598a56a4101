import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Sample } from '../../../../src/media/cmaf/fragment-reader.ts';
import { avc, publish, startFakeBroadcasts, videoTag } from '../../../support/fake-broadcasts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const fps = 25;
const frame = {
  trackId: 1,
  dtsTicks: 0,
  durationTicks: 640,
  compositionOffsetTicks: 0,
  data: Buffer.alloc(10),
};

/** Publishes with keyframes every 5 s that the encoder does not declare. */
async function publishUndeclared(room: ReturnType<typeof startFakeBroadcasts>) {
  const publisher = await publish(room.live);
  publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
  await vi.advanceTimersByTimeAsync(1000);
  const packager = room.packagers.at(-1)!;
  packager.begin();
  let frames = 0;
  const give = (seconds: number) => {
    for (const until = frames + seconds * fps; frames < until; frames += 1) {
      const sample: Sample = { ...frame, isSync: frames % (5 * fps) === 0 };
      packager.events.sample('video', sample, frames * 40);
    }
  };
  return { publisher, give };
}

function targetDuration({ live }: ReturnType<typeof startFakeBroadcasts>): number {
  return live.find('li1', live.state('li1').broadcastId!)!.source.window.targetDurationSeconds;
}

test('a broadcast is listed when its keyframe interval is known, and the next one of the stream at once', async () => {
  const room = startFakeBroadcasts();
  const first = await publishUndeclared(room);
  first.give(4.9);
  expect(room.live.state('li1').live).toBe(false);
  first.give(0.5);
  expect(room.live.state('li1').live).toBe(true);
  expect(targetDuration(room)).toBe(5);
  first.publisher.close('unpublished');
  await vi.advanceTimersByTimeAsync(60_000);

  const second = await publishUndeclared(room);
  second.give(0.5);
  expect(room.live.state('li1').live).toBe(true);
  expect(targetDuration(room)).toBe(5);
});
