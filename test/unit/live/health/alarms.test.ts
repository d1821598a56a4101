import { describe, expect, test } from 'vitest';
import { isBrowserPublisher } from '../../../../src/live/health/alarm-advice.ts';
import { type AlarmKind, Alarms } from '../../../../src/live/health/alarms.ts';
import type { AlarmInputs } from '../../../../src/live/health/ingest-health.ts';

const healthy: AlarmInputs = {
  isConnected: true,
  isBrowser: false,
  hasRecoveryPoints: false,
  lateMs: 0,
  lostShare: 0,
  keyframeDistanceSeconds: 2,
  recent: { bitsPerSecond: 2_500_000, framesPerSecond: 30 },
  usual: { bitsPerSecond: 2_500_000, framesPerSecond: 30 },
  rates: Array(14).fill({ bitsPerSecond: 2_500_000, framesPerSecond: 30 }),
  declared: { bitsPerSecond: 2_500_000, framesPerSecond: 30 },
  silentSeconds: { audio: 0, video: 0 },
  recentJumps: 0,
  audioDriftMilliseconds: 0,
  recentLosses: 0,
};

/** The last 15 s at a bitrate, after a minute at 2500 kbit/s. */
function ratesFrom(kilobits: number): AlarmInputs['rates'] {
  const low = { bitsPerSecond: kilobits * 1000, framesPerSecond: 30 };
  return [low, low, low, ...healthy.rates.slice(3)];
}

/** Judges once a second; gives each change as `kind at which second`. */
function changesOf(inputsAt: (second: number) => AlarmInputs, seconds: number): string[] {
  const alarms = new Alarms();
  return Array.from({ length: seconds }, (_, second) =>
    alarms
      .evaluate(inputsAt(second), second * 1000, second * 1000)
      .map(({ kind, isRaised }) => `${isRaised ? '+' : '-'}${kind} ${second}`),
  ).flat();
}

describe('an alarm', () => {
  test.each<[AlarmKind, Partial<AlarmInputs>, Partial<AlarmInputs>, RegExp]>([
    [
      'keyframes-too-far-apart',
      { keyframeDistanceSeconds: 4.2 },
      { keyframeDistanceSeconds: 4 },
      /4\.2 s apart .* interval to 2 s/,
    ],
    [
      'bitrate-collapsed',
      { recent: { bitsPerSecond: 700_000, framesPerSecond: 30 }, lateMs: 600 },
      { recent: { bitsPerSecond: 800_000, framesPerSecond: 30 }, lateMs: 600 },
      /fell to 700 kbit\/s, from 2500 kbit\/s/,
    ],
    [
      'bitrate-low',
      { rates: ratesFrom(1700), lateMs: 600 },
      { rates: ratesFrom(1800), lateMs: 600 },
      /sends 1700 kbit\/s instead of 2500/,
    ],
    [
      'frame-rate-collapsed',
      { recent: { bitsPerSecond: 2_500_000, framesPerSecond: 14.5 } },
      { recent: { bitsPerSecond: 2_500_000, framesPerSecond: 16 } },
      /fell to 14\.5 fps, from 30 fps/,
    ],
    [
      'audio-missing',
      { silentSeconds: { audio: 5, video: 0 } },
      { silentSeconds: { audio: undefined, video: 0 } },
      /No audio has arrived for 5 s/,
    ],
    [
      'video-missing',
      { silentSeconds: { audio: 0, video: 6.5 } },
      { silentSeconds: { audio: 0, video: undefined } },
      /No video has arrived for 6 s/,
    ],
    ['timestamps-jumping', { recentJumps: 3 }, { recentJumps: 2 }, /jumped 3 times/],
    [
      'audio-video-drift',
      { audioDriftMilliseconds: -501 },
      { audioDriftMilliseconds: 500 },
      /501 ms behind the video/,
    ],
    ['frequent-reconnects', { recentLosses: 3 }, { recentLosses: 2 }, /lost 3 times/],
  ])('%s is raised at its limit, and not just below', (kind, bad, almost, message) => {
    const alarms = new Alarms();
    expect(alarms.evaluate({ ...healthy, ...almost }, 0, 0)).toEqual([]);
    expect(alarms.evaluate({ ...healthy, ...bad }, 1000, 1_000_000)).toEqual([
      { kind, isRaised: true, message: expect.stringMatching(message) },
    ]);
    expect(alarms.raised).toEqual([{ kind, raisedAtMs: 1_000_000, message: expect.stringMatching(message) }]);
  });

  test('of a collapsed bitrate needs media that is late or lost: simple content has a low bitrate, too', () => {
    const simple = { ...healthy, recent: { bitsPerSecond: 50_000, framesPerSecond: 30 } };
    expect(changesOf(() => simple, 30)).toEqual([]);
    for (const heldUp of [
      { lateMs: 600 },
      { lostShare: 0.02 },
      { recent: { bitsPerSecond: 50_000, framesPerSecond: 25 } },
    ]) {
      expect(changesOf(() => ({ ...simple, ...heldUp }), 1)).toEqual(['+bitrate-collapsed 0']);
    }
    const late = { ...simple, lateMs: 600 };
    expect(changesOf(second => (second === 0 ? late : simple), 30)).toEqual([
      '+bitrate-collapsed 0',
      '-bitrate-collapsed 11',
    ]);
  });

  test('is not raised when a browser hides its video, or shares a screen that stays the same', () => {
    const hidden = { bitsPerSecond: 20_000, framesPerSecond: 1 };
    const inputs = {
      ...healthy,
      isBrowser: true,
      recent: hidden,
      rates: [hidden, hidden, hidden, ...healthy.rates.slice(3)],
      declared: { bitsPerSecond: undefined, framesPerSecond: undefined },
    };
    expect(changesOf(() => inputs, 30)).toEqual([]);
    // The same from an encoder is a problem, and so is loss.
    expect(changesOf(() => ({ ...inputs, isBrowser: false }), 1)).toContain('+frame-rate-collapsed 0');
    expect(changesOf(() => ({ ...inputs, lostShare: 0.05 }), 1)).toEqual(
      expect.arrayContaining(['+frame-rate-collapsed 0', '+bitrate-collapsed 0']),
    );
  });

  test('advises the person at a browser about what a browser has', () => {
    const bad = { ...healthy, recentLosses: 3, recentJumps: 3, silentSeconds: { audio: 5, video: 5 } };
    const messages = (isBrowser: boolean) =>
      new Alarms().evaluate({ ...bad, isBrowser }, 0, 0).map(({ message }) => message);
    expect(messages(true)).toHaveLength(4);
    for (const message of messages(true)) expect(message).not.toMatch(/encoder|bitrate/);
    for (const message of messages(false)) expect(message).toMatch(/encoder/i);
    const whip = (encoder: string) => isBrowserPublisher({ protocol: 'whip', encoder });
    expect(['Chrome 131', 'Safari 18.1', 'OBS Studio 31.0'].map(whip)).toEqual([true, true, false]);
    expect(isBrowserPublisher({ protocol: 'rtmp', encoder: 'Chrome 131' })).toBe(false);
  });

  test('is cleared after ten healthy seconds in a row', () => {
    const bad = { ...healthy, recentJumps: 3 };
    const changes = changesOf(second => (second === 1 || second === 6 ? bad : healthy), 30);
    expect(changes).toEqual(['+timestamps-jumping 1', '-timestamps-jumping 17']);
  });

  test('that flaps is raised at most once a minute', () => {
    const bad = { ...healthy, silentSeconds: { audio: 7, video: 0 } };
    // Eleven seconds of health and one of silence, for three minutes.
    const changes = changesOf(second => (second % 12 === 0 ? bad : healthy), 180);
    expect(changes).toEqual([
      '+audio-missing 0',
      '-audio-missing 11',
      '+audio-missing 72',
      '-audio-missing 83',
      '+audio-missing 144',
      '-audio-missing 155',
    ]);
  });

  test('stays raised between its two limits', () => {
    const inputs = [-600, -450, -450, -390].map(audioDriftMilliseconds => ({
      ...healthy,
      audioDriftMilliseconds,
    }));
    const changes = changesOf(second => inputs[Math.min(3, Math.floor(second / 20))]!, 80);
    expect(changes).toEqual(['+audio-video-drift 0', '-audio-video-drift 70']);
  });

  test('is neither raised nor cleared without a publisher, except for frequent reconnects', () => {
    const away = { ...healthy, isConnected: false, silentSeconds: { audio: 60, video: 60 }, recentLosses: 3 };
    expect(changesOf(() => away, 30)).toEqual(['+frequent-reconnects 0']);
    const raised = { ...healthy, recentJumps: 3 };
    const gone = { ...healthy, isConnected: false };
    expect(changesOf(second => (second === 0 ? raised : gone), 60)).toEqual(['+timestamps-jumping 0']);
  });

  test('is not raised by missing measurements', () => {
    const nothing = {
      ...healthy,
      keyframeDistanceSeconds: undefined,
      recent: undefined,
      usual: undefined,
      rates: [],
      silentSeconds: { audio: undefined, video: undefined },
      audioDriftMilliseconds: undefined,
    };
    expect(changesOf(() => nothing, 30)).toEqual([]);
  });
});
