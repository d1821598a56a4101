import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LadderTranscoder } from '../../../../src/live/transcode/ladder-transcoder.ts';
import type {
  EncoderConfig,
  EncoderEvents,
  EncoderInput,
} from '../../../../src/live/transcode/live-encoder.ts';
import { fakedClock } from '../../../support/faked-clock.ts';
import { samples as mediaSamples } from '../../../support/media-samples.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An encoder that gives a sample when it is told to. */
class FakeEncoder {
  readonly order: EncoderConfig;
  readonly events: EncoderEvents;
  readonly tags: EncoderInput[] = [];
  isFinished = false;
  isKilled = false;

  constructor(order: EncoderConfig, events: EncoderEvents) {
    this.order = order;
    this.events = events;
  }

  write(tag: EncoderInput): void {
    this.tags.push(tag);
  }

  finish(): void {
    this.isFinished = true;
  }

  kill(): void {
    this.isKilled = true;
    this.events.exited(undefined);
  }

  /** Emits what a real one would for the frame at `atMs`. */
  give(atMs: number): void {
    const isSync = this.tags.some(tag => tag.role === 'keyframe' && tag.shownMs === atMs);
    const sample = {
      trackId: 1,
      dtsTicks: 0,
      durationTicks: 640,
      compositionOffsetTicks: 0,
      isSync,
      data: Buffer.alloc(1),
    };
    for (const { name } of this.order.renditions) this.events.sample(name, sample, atMs);
  }
}

const frame = (isKeyframe: boolean, data: Buffer) =>
  mediaSamples.video('avc1', { dtsMs: 0, ptsMs: 80, isKeyframe, data });
const rung = (name: string) => ({ name, width: 16, height: 16, bitsPerSecond: 1000 });

function room(names: readonly string[], willBeginSegment = () => true) {
  const encoders: FakeEncoder[] = [];
  const told: string[] = [];
  const samples: number[] = [];
  const ladder = new LadderTranscoder({
    video: { width: 32, height: 32, overlay: undefined },
    renditions: names.map(rung),
    startEncoder: (order, events) => {
      const encoder = new FakeEncoder(order, events);
      encoders.push(encoder);
      return encoder;
    },
    events: {
      track: () => {},
      sample: (name, _, atMs) => {
        if (name === names[0]) samples.push(atMs);
      },
      dropped: (name, fromMs, reason) => told.push(`dropped ${name} from ${fromMs}: ${reason}`),
      dropCompleted: () => told.push('settled'),
      frameRateChanged: divisor => told.push(`thinned ${divisor}`),
      failed: report => told.push(`failed ${report}`),
      gaveUp: report => told.push(`gave up: ${report}`),
      backlogCleared: () => told.push('drained'),
    },
    willBeginSegment,
    clock: fakedClock,
  });
  ladder.write(mediaSamples.videoConfig('avc1', Buffer.alloc(1)), 0);
  /** 25 frames a second, a keyframe each second; reordered ones are shown 80 ms after they are decoded. */
  const send = (fromMs: number, untilMs: number, data = Buffer.alloc(10)) => {
    for (let atMs = fromMs; atMs < untilMs; atMs += 40) {
      ladder.write(frame(atMs % 1000 === 0, data), atMs);
    }
  };
  const write = (role: 'keyframe' | 'frame', atMs: number) =>
    ladder.write(frame(role === 'keyframe', Buffer.alloc(10)), atMs);
  return { ladder, encoders, told, samples, send, write };
}

describe('an encoder that died', () => {
  test('is followed by one that gets all from the last keyframe on, and leaves out what came', () => {
    const { ladder, encoders, told, send } = room(['240p']);
    send(0, 1600);
    for (let atMs = 0; atMs <= 1200; atMs += 40) encoders[0]!.give(atMs);
    encoders[0]!.events.exited('signal SIGKILL');
    expect(told).toEqual(['failed signal SIGKILL']);
    const [, second] = encoders;
    expect(second!.tags[0]).toMatchObject({ role: 'config', atMs: 1000 });
    expect(second!.tags[1]).toMatchObject({ role: 'keyframe', shownMs: 1000, reorderMs: 80 });
    expect(second!.tags).toHaveLength(16);
    expect(second!.order.renditions[0]!.fromMs).toBeGreaterThan(1200);
    expect(second!.order.renditions[0]!.fromMs).toBeLessThan(1240);
    void ladder.kill();
  });

  test('again and again is given up: the rungs too, from the top', () => {
    const { encoders, told, send } = room(['240p', '360p']);
    send(0, 400);
    for (let time = 0; time < 5; time += 1) encoders.at(-1)!.events.exited('exit code 1');
    expect(encoders).toHaveLength(5);
    expect(told.slice(-3)).toEqual([
      'dropped 360p from 361: encoder-failed',
      'dropped 240p from 361: encoder-failed',
      'settled',
    ]);
  });

  test('again and again ends what has to be marked', () => {
    const { encoders, told, send } = room(['240p', 'source']);
    send(0, 400);
    for (let time = 0; time < 5; time += 1) encoders.at(-1)!.events.exited('exit code 1');
    expect(told.at(-1)).toBe('gave up: exit code 1');
  });
});

describe('an encoder that keeps up', () => {
  test('is left alone while the picture stands still', async () => {
    const { ladder, encoders, told, send } = room(['source']);
    send(0, 2000);
    // Leaves out the newest output, which an encoder emits with the next frames.
    for (let atMs = 0; atMs < 1900; atMs += 40) encoders[0]!.give(atMs);
    await vi.advanceTimersByTimeAsync(60_000);
    expect({ told, count: encoders.length }).toEqual({ told: [], count: 1 });
    void ladder.kill();
  });

  test('and hangs is replaced', async () => {
    const { ladder, encoders, told, send } = room(['source']);
    for (let second = 0; second < 10; second += 1) {
      send(second * 1000, second * 1000 + 1000);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(told).toContain('failed no output for 8000 ms');
    expect(encoders.length).toBeGreaterThan(1);
    void ladder.kill();
  });

  test('goes on where keyframes are further apart than can be kept; if it dies then, the next keyframe is the first', async () => {
    const { ladder, encoders, told, write } = room(['240p', '360p']);
    for (let second = 0; second < 45; second += 1) {
      for (let atMs = second * 1000; atMs < second * 1000 + 1000; atMs += 40) {
        write(atMs === 0 ? 'keyframe' : 'frame', atMs);
        if (atMs > 0) encoders[0]!.give(atMs - 40);
      }
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect({ told, count: encoders.length }).toEqual({ told: [], count: 1 });
    expect(encoders[0]!.tags).toHaveLength(1 + 45 * 25);
    encoders[0]!.events.exited('signal SIGKILL');
    write('frame', 45_000);
    expect(encoders).toHaveLength(1);
    write('keyframe', 45_040);
    expect(encoders[1]!.tags[1]).toMatchObject({ role: 'keyframe', atMs: 45_040 });
    void ladder.kill();
  });

  test('begins anew where it stops to keep up then', async () => {
    const { ladder, encoders, told, write } = room(['240p', '360p']);
    for (let atMs = 0; atMs < 26_000; atMs += 40) {
      write(atMs === 0 ? 'keyframe' : 'frame', atMs);
      if (atMs > 0 && atMs < 21_000) encoders[0]!.give(atMs - 40);
    }
    expect(encoders[0]!.isKilled).toBe(true);
    expect(told[0]).toMatch(/^dropped 360p from /);
    write('keyframe', 26_000);
    expect(encoders[1]!.order.renditions.map(({ name }) => name)).toEqual(['240p']);
    void ladder.kill();
  });
});

test('whoever was asked to wait may go on when nothing is left to encode', async () => {
  const { ladder, encoders, told, send } = room(['source']);
  send(0, 7000);
  await vi.advanceTimersByTimeAsync(1000);
  expect(ladder.isBacklogged).toBe(true);
  // One GOP of more than is kept.
  send(7040, 8000, Buffer.alloc(1024 * 1024));
  send(8040, 9000, Buffer.alloc(1024 * 1024));
  await vi.advanceTimersByTimeAsync(1000);
  expect(encoders[0]!.isKilled).toBe(true);
  expect(ladder.isBacklogged).toBe(false);
  expect(told).toContain('drained');
  void ladder.kill();
});

describe('an encoder that is too slow', () => {
  test('works off what it has up to a keyframe; the next one begins there without the top rung', async () => {
    const { ladder, encoders, told, samples, send } = room(['240p', '360p']);
    for (let second = 0; second < 7; second += 1) {
      send(second * 1000, second * 1000 + 1000);
      encoders[0]!.give(second * 100 - ((second * 100) % 40));
      await vi.advanceTimersByTimeAsync(1000);
    }
    send(7000, 7400);
    expect(told).toEqual(['dropped 360p from 5000: too-slow']);
    expect(encoders[0]!.isFinished).toBe(true);
    const fromMs = 5000;
    expect(encoders[0]!.tags.at(-1)!.shownMs).toBe(fromMs - 40);
    expect(encoders).toHaveLength(1);
    encoders[0]!.give(fromMs - 40);
    encoders[0]!.events.exited(undefined);
    expect(told.at(-1)).toBe('settled');
    expect(encoders[1]!.order.renditions.map(({ name }) => name)).toEqual(['240p']);
    expect(encoders[1]!.tags[1]).toMatchObject({ role: 'keyframe', shownMs: fromMs });
    expect(samples.at(-1)).toBe(fromMs - 40);
    void ladder.kill();
  });

  test('gives its top rung up where a segment begins, since its viewers cannot go on with another one before', async () => {
    let keyframes = 0;
    const { ladder, encoders, told, send } = room(['240p', '360p'], () => {
      keyframes += 1;
      return keyframes > 2;
    });
    for (let second = 0; second < 8; second += 1) {
      send(second * 1000, second * 1000 + 1000);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(told).toEqual(['dropped 360p from 7000: too-slow']);
    expect(encoders[0]!.tags.at(-1)!.shownMs).toBe(7000 - 40);
    void ladder.kill();
  });

  test('with the marked source alone gives frames up, not the mark', async () => {
    const { ladder, encoders, told, send } = room(['source']);
    for (let second = 0; second < 8; second += 1) {
      send(second * 1000, second * 1000 + 1000);
      encoders[0]!.give(second * 40);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(encoders[0]!.isFinished).toBe(true);
    encoders[0]!.events.exited(undefined);
    expect(told).toContain('thinned 2');
    expect(encoders[1]!.order).toMatchObject({ frameDivisor: 2, renditions: [{ name: 'source' }] });
    void ladder.kill();
  });

  test('gives all frames again after a minute in which it keeps up', async () => {
    const { ladder, encoders, told, send } = room(['source']);
    let second = 0;
    const run = async (seconds: number, isFast: boolean) => {
      for (const until = second + seconds; second < until; second += 1) {
        const encoder = encoders.at(-1)!;
        send(second * 1000, second * 1000 + 1000);
        if (encoder.isFinished) encoder.events.exited(undefined);
        else if (isFast) for (let atMs = 0; atMs < 1000; atMs += 40) encoder.give(second * 1000 + atMs);
        await vi.advanceTimersByTimeAsync(1000);
      }
    };
    send(0, 40);
    await run(16, false);
    const thinned = told.filter(text => text.startsWith('thinned'));
    expect(thinned[0]).toBe('thinned 2');
    await run(50, true);
    expect(told.filter(text => text.startsWith('thinned'))).toEqual(thinned);
    await run(180, true);
    expect(told.filter(text => text.startsWith('thinned')).at(-1)).toBe('thinned 1');
    expect(encoders.at(-1)!.order.frameDivisor).toBe(1);
    void ladder.kill();
  });

  test('holds no more than so many bytes: it goes on with the newest keyframe, with less to do', () => {
    const { ladder, encoders, told, send } = room(['240p', '360p']);
    send(0, 3000, Buffer.alloc(512 * 1024));
    expect(encoders[0]!.isKilled).toBe(true);
    expect(told[0]).toMatch(/^dropped 360p from \d000: too-slow$/);
    expect(encoders.at(-1)!.order.renditions.map(({ name }) => name)).toEqual(['240p']);
    void ladder.kill();
  });
});

describe('at the end of a publisher', () => {
  test('an encoder that lags may give what is inside, for as long as it gives something', async () => {
    const { ladder, encoders, samples, send } = room(['240p']);
    send(0, 4000);
    const finished = ladder.finish();
    for (let atMs = 0; atMs < 4000; atMs += 1000) {
      await vi.advanceTimersByTimeAsync(1500);
      encoders[0]!.give(atMs);
    }
    expect(encoders[0]).toMatchObject({ isFinished: true, isKilled: false });
    expect(samples).toEqual([0, 1000, 2000, 3000]);
    encoders[0]!.events.exited(undefined);
    await finished;
  });

  test('an encoder that gives nothing is ended', async () => {
    const { ladder, encoders, send } = room(['240p']);
    send(0, 4000);
    const finished = ladder.finish();
    await vi.advanceTimersByTimeAsync(3000);
    expect(encoders[0]!.isKilled).toBe(true);
    await finished;
  });

  test('an encoder that does not come to an end is ended', async () => {
    const { ladder, encoders, send } = room(['240p']);
    send(0, 20_000);
    const finished = ladder.finish();
    for (let atMs = 0; atMs < 20_000 && !encoders[0]!.isKilled; atMs += 1000) {
      encoders[0]!.give(atMs);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(encoders[0]!.isKilled).toBe(true);
    await finished;
  });
});
