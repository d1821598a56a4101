import { expect, test } from 'vitest';
import { Alarms } from '../../../../src/live/health/alarms.ts';
import { IngestHealth } from '../../../../src/live/health/ingest-health.ts';

const fps = 25;
const frameMs = 1000 / fps;
const gopFrames = 2 * fps;

interface Sent {
  readonly kilobits: number;
  /** Share of the frames that arrive, above 1 where those of a pause are made up for. */
  readonly frames?: number;
  /** Delay of the arrival. */
  readonly lateMs?: number;
  /** Share of packets that never arrive. */
  readonly lost?: number;
}

/**
 * Publishes frames by a fake clock, with keyframes of five times the size, and judges once a second.
 *
 * @returns changes of the alarm as `+second` and `-second`
 */
function alarmOf(
  declaredKilobits: number | undefined,
  seconds: number,
  sentAt: (second: number) => Sent,
  connectsAt: readonly number[] = [0],
): string[] {
  const health = new IngestHealth();
  const alarms = new Alarms();
  const changes: string[] = [];
  let packets = 0;
  let lostPackets = 0;
  for (let frame = 0; frame < seconds * fps; frame += 1) {
    const nowMs = 1000 + frame * frameMs;
    const second = frame / fps;
    if (connectsAt.includes(second)) {
      if (second > 0) health.lost(nowMs, nowMs);
      health.attached(nowMs, () => ({
        roundTripMs: 20,
        packetsReceived: packets - lostPackets,
        packetsRecovered: 0,
        packetsLost: lostPackets,
      }));
      health.declared({
        hasAudio: false,
        hasVideo: true,
        bitsPerSecond: declaredKilobits === undefined ? undefined : declaredKilobits * 1000,
        framesPerSecond: fps,
      });
    }
    const { kilobits, frames = 1, lateMs = 0, lost = 0 } = sentAt(second);
    packets += 10;
    lostPackets += 10 * lost;
    const sentMs = frame * frameMs - lateMs;
    const isKeyframe = frame % gopFrames === 0;
    const bytes = ((kilobits * 125) / fps) * ((isKeyframe ? 5 : 1) / (1 + 4 / gopFrames));
    const arriving = Math.floor(frame * frames) - Math.floor((frame - 1) * frames);
    for (let count = 0; count < arriving; count += 1) {
      health.arrived('video', sentMs, 1e6 + sentMs, bytes / frames, isKeyframe, nowMs);
    }
    if (frame % fps !== 0) continue;
    for (const { kind, isRaised } of alarms.evaluate(
      { ...health.alarmInputs(nowMs), isBrowser: false },
      nowMs,
      nowMs,
    )) {
      if (kind === 'bitrate-low') changes.push(`${isRaised ? '+' : '-'}${second}`);
    }
  }
  return changes;
}

const drop =
  (from: number, to: number, kilobits: number, sent: Partial<Sent> = { lateMs: 800 }) =>
  (second: number): Sent =>
    second >= from && second < to ? { kilobits, ...sent } : { kilobits: 2500 };

test.each<[string, number | undefined, number]>([
  ['half of the declared bitrate', 2500, 30],
  ['half of the usual bitrate where none is declared', undefined, 60],
  ['half of a bitrate above the declared one', 1000, 60],
])('%s is told within 20 s, and no more 15 s after it is over', (_, declared, from) => {
  const [raised, cleared, ...more] = alarmOf(declared, from + 60, drop(from, from + 20, 1250)).map(Number);
  expect(raised).toBeGreaterThan(from + 12);
  expect(raised).toBeLessThan(from + 20);
  expect(-cleared!).toBeGreaterThan(from + 25);
  expect(-cleared!).toBeLessThanOrEqual(from + 35);
  expect(more).toEqual([]);
});

test('the declared bitrate is not low after a burst that makes up for a pause', () => {
  const changes = alarmOf(2500, 220, second => {
    if (second >= 60 && second < 100) return { kilobits: 100, frames: 0.04 };
    return second >= 100 && second < 120 ? { kilobits: 7500, frames: 3 } : { kilobits: 2500 };
  }).map(Number);
  expect(changes).toHaveLength(2);
  expect(changes[0]).toBeGreaterThan(60);
  expect(changes[0]).toBeLessThan(100);
  expect(changes[1]).toBeLessThan(0);
});

test('10 s at half the bitrate, or a minute at 75 %, is not told', () => {
  expect(alarmOf(2500, 80, drop(30, 40, 1250))).toEqual([]);
  expect(alarmOf(2500, 120, drop(30, 90, 1875))).toEqual([]);
});

test('packets that are lost for good tell of a low bitrate', () => {
  expect(alarmOf(2500, 60, drop(30, 60, 1250, { lost: 0.02 }))[0]).toMatch(/^\+4[3-9]$/);
  expect(alarmOf(2500, 60, drop(30, 60, 1250, { lost: 0.001 }))).toEqual([]);
});

test('a delay that lasts is the usual one after two minutes', () => {
  const [raised, cleared, ...more] = alarmOf(2500, 500, drop(60, 500, 1250)).map(Number);
  expect(-cleared! - raised!).toBeGreaterThan(90);
  expect(-cleared!).toBeLessThan(210);
  expect(more).toEqual([]);
});

test('frames that are missing tell of a low bitrate from the first second on, also of one that varies', () => {
  const half = () => ({ kilobits: 1250, frames: 0.6 });
  expect(alarmOf(2500, 30, half)[0]).toMatch(/^\+1[567]$/);
  const varied = (second: number) =>
    second < 60 ? { kilobits: second % 20 < 10 ? 3500 : 1500 } : { kilobits: 1250, frames: 0.6 };
  expect(alarmOf(2500, 90, varied)[0]).toMatch(/^\+7[1-7]$/);
});

test.each<[string, number | undefined, (second: number) => Sent]>([
  ['scenes of 10 s', 2500, second => ({ kilobits: second % 20 < 10 ? 3500 : 1500 })],
  ['scenes of 30 s', 2500, second => ({ kilobits: second % 60 < 30 ? 3500 : 1500 })],
  [
    'scenes of 20 s of an undeclared bitrate',
    undefined,
    second => ({ kilobits: second % 40 < 20 ? 3000 : 900 }),
  ],
  ['slides with a new one every 15 s', 2500, second => ({ kilobits: second % 15 < 1 ? 2500 : 150 })],
  ['a still picture with sound', 2500, () => ({ kilobits: 200 })],
  [
    'a talk that needs about half of the declared bitrate',
    2500,
    second => ({ kilobits: 1250 + 400 * Math.sin(second / 3) }),
  ],
  ['a constant bitrate', 2500, () => ({ kilobits: 2500 })],
  ['a constant quality that needs half of the declared bitrate', 2500, () => ({ kilobits: 1250 })],
  [
    'an encoder that sends its first seconds sooner',
    2500,
    second => ({ kilobits: 1250, lateMs: second < 8 ? 0 : 600 }),
  ],
  [
    'a quality that needs half of the declared bitrate, of which a busy encoder skips frames',
    2500,
    () => ({ kilobits: 1250, frames: 0.85 }),
  ],
  ['a constant bitrate, then a still scene', 2500, second => ({ kilobits: second < 60 ? 2500 : 300 })],
  ['an encoder that lowers its undeclared bitrate', undefined, drop(60, 300, 1000, {})],
  ['bursts of two seconds', 2500, second => ({ kilobits: 1250, lateMs: second % 4 < 2 ? 900 : 0 })],
])('content that varies by itself is not told: %s', (_, declared, sentAt) => {
  expect(alarmOf(declared, 300, sentAt)).toEqual([]);
});

test('a publisher that returns with another bitrate is compared with what it declares then', () => {
  const changes = alarmOf(undefined, 140, second => ({ kilobits: second < 80 ? 2500 : 1000 }), [0, 80]);
  expect(changes).toEqual([]);
});
