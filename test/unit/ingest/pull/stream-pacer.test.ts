import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StreamPacer } from '../../../../src/ingest/pull/stream-pacer.ts';
import { TsMuxer } from '../../../../src/media/mpegts/ts-muxer.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

const frameMs = 40;
const segmentMs = 2_000;

/** @param firstMs of the clock of the source */
function source(firstMs = 1_000) {
  const muxer = new TsMuxer({ audio: { config: Buffer.from('1190', 'hex') } });
  let atMs = firstMs;
  const sent: Buffer[] = [];
  return {
    sent,
    jump: (byMs: number) => {
      atMs += byMs;
    },
    segment: (durationMs = segmentMs, frameBytes = 200): Buffer => {
      const frames: Buffer[] = [];
      for (const endMs = atMs + durationMs; atMs < endMs; atMs += frameMs) {
        frames.push(muxer.audio(atMs, Buffer.alloc(frameBytes, atMs)));
      }
      sent.push(...frames);
      return Buffer.concat(frames);
    },
  };
}

function pace(reserveMs = 1.5 * segmentMs) {
  const passed: Buffer[] = [];
  const passedAtMs: number[] = [];
  const isInputPaused = { now: false };
  const startedAtMs = performance.now();
  const pacer = new StreamPacer({
    reserveMs: () => reserveMs,
    output: bytes => {
      passed.push(bytes);
      passedAtMs.push(performance.now() - startedAtMs);
    },
    pauseInput: () => {
      isInputPaused.now = true;
    },
    resumeInput: () => {
      isInputPaused.now = false;
    },
  });
  return {
    pacer,
    passedAtMs,
    isInputPaused,
    bytes: () => Buffer.concat(passed),
    /** Tables and pieces of a frame are passed on with it. */
    gaps: () => {
      const times = [...new Set(passedAtMs.map(Math.round))];
      return times.slice(1).map((at, index) => at - times[index]!);
    },
  };
}

describe('a stream that arrives in segments', () => {
  it('is passed on frame by frame at the pace of its clock', () => {
    const { segment, sent } = source();
    const { pacer, bytes, passedAtMs, gaps } = pace();
    // Requests the playlist as ffmpeg does: up to half a target duration too late.
    for (const lateMs of [0, 900, 100, 1_000, 0, 500, 1_000, 0]) {
      vi.advanceTimersByTime(lateMs);
      const whole = segment();
      pacer.push(whole.subarray(0, 1_000));
      pacer.push(whole.subarray(1_000));
      vi.advanceTimersByTime(segmentMs - lateMs);
    }
    vi.advanceTimersByTime(2 * segmentMs);
    expect(bytes().equals(Buffer.concat(sent))).toBe(true);
    // The reserve is there with the second segment.
    expect(passedAtMs[0]).toBe(segmentMs + 900);
    expect(new Set(gaps())).toEqual(new Set([frameMs]));
  });

  it('begins at once when the source has enough already', () => {
    const { segment } = source();
    const { pacer, passedAtMs } = pace();
    pacer.push(Buffer.concat([segment(), segment(), segment()]));
    expect(new Set(passedAtMs)).toEqual(new Set([0]));
  });

  it('pauses once for a delay, and no more for another one that is not longer', () => {
    const { segment } = source();
    const { pacer, gaps } = pace(0);
    for (const lateMs of [0, 0, 700, 600, 0, 700]) {
      vi.advanceTimersByTime(lateMs);
      pacer.push(segment());
      vi.advanceTimersByTime(segmentMs - lateMs);
    }
    expect(gaps().filter(gap => gap !== frameMs)).toEqual([frameMs + 700]);
  });

  it.each([-3_600_000, 3_600_000])('goes on after a jump of its clock by %i ms', byMs => {
    const { segment, jump, sent } = source(4_000_000);
    const { pacer, bytes, gaps } = pace();
    pacer.push(segment(3 * segmentMs));
    jump(byMs);
    pacer.push(segment(3 * segmentMs));
    vi.advanceTimersByTime(6 * segmentMs);
    expect(bytes().equals(Buffer.concat(sent))).toBe(true);
    expect(Math.max(...gaps())).toBe(frameMs);
  });

  it('goes on when its clock wraps', () => {
    const { segment, sent } = source(2 ** 33 / 90 - 1_000);
    const { pacer, bytes, gaps } = pace(0);
    pacer.push(segment());
    vi.advanceTimersByTime(segmentMs);
    expect(bytes().equals(Buffer.concat(sent))).toBe(true);
    expect(Math.max(...gaps())).toBe(frameMs);
  });

  it('is passed on to its end', async () => {
    const { segment, sent } = source();
    const { pacer, bytes } = pace();
    pacer.push(segment());
    let isOver = false;
    const ended = pacer.end().then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(segmentMs / 2);
    expect([isOver, bytes().length < Buffer.concat(sent).length]).toEqual([false, true]);
    await vi.advanceTimersByTimeAsync(segmentMs / 2);
    await ended;
    expect(bytes().equals(Buffer.concat(sent))).toBe(true);
  });

  it('waits while the broadcast is paused, and then catches up', () => {
    const { segment, sent } = source();
    const { pacer, bytes } = pace(0);
    pacer.push(segment(segmentMs, 60_000));
    pacer.pause();
    const before = bytes().length;
    vi.advanceTimersByTime(segmentMs);
    expect(bytes()).toHaveLength(before);
    pacer.resume();
    // The rest comes in other iterations of the event loop.
    expect(bytes().length).toBeLessThan(1.25 * 1024 ** 2);
    vi.advanceTimersByTime(4);
    expect(bytes().equals(Buffer.concat(sent))).toBe(true);
  });

  it.each([
    ['long', 40_000, 200],
    ['large', 20_000, 60_000],
  ])('is not read further while what is held is %s', (_, durationMs, frameBytes) => {
    const { segment } = source();
    const { pacer, isInputPaused } = pace();
    pacer.push(segment(durationMs, frameBytes));
    expect(isInputPaused.now).toBe(true);
    vi.advanceTimersByTime(durationMs);
    expect(isInputPaused.now).toBe(false);
  });

  it('is dropped when the pull ends', async () => {
    const { segment } = source();
    const { pacer, bytes } = pace();
    pacer.push(segment());
    pacer.stop();
    await pacer.end();
    vi.advanceTimersByTime(segmentMs);
    expect(bytes()).toHaveLength(0);
  });
});
