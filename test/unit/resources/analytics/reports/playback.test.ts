import { describe, expect, it } from 'vitest';
import {
  counterNames,
  type EventType,
  Playback,
  type PlaybackState,
} from '../../../../../src/resources/analytics/reports/playback.ts';

const began = Date.UTC(2026, 2, 4, 12, 0, 0);

/** `[second, what, position]`; `paused` is a time update of a paused player. */
type Step = readonly [number, EventType | 'paused', number?];

function take(playback: Playback, steps: readonly Step[]): void {
  for (const [second, what, position] of steps) {
    const atMs = began + second * 1000;
    const type = what === 'paused' ? 'timeupdate' : what;
    playback.handle({ type, clientMs: second * 1000, atMs, position, isPaused: what === 'paused' }, atMs);
  }
}

function facts(playback: Playback) {
  const { counts, intervals } = playback.collect();
  const sums: Record<string, number> = {};
  for (const counted of counts.values()) {
    for (const [index, count] of counted.entries()) {
      const name = counterNames[index]!;
      if (count !== 0) sums[name] = (sums[name] ?? 0) + count;
    }
  }
  return {
    sums,
    intervals: intervals.map(({ firstSlot, lastSlot }) => [
      firstSlot - began / 10_000,
      lastSlot - began / 10_000,
    ]),
  };
}

function outcome(steps: readonly Step[], isLive = false, state?: PlaybackState) {
  const playback = new Playback(isLive, began, state);
  take(playback, steps);
  return facts(playback);
}

const begun: readonly Step[] = [
  [0, 'loaded', 0],
  [1, 'play', 0],
  [2, 'timeupdate', 0.5],
];

describe('what follows from the events of a playback', () => {
  it.each<[string, readonly Step[], Record<string, number>]>([
    ['nothing', [], {}],
    ['an impression', [[0, 'loaded', 0]], { impressions: 1 }],
    [
      'an impression once',
      [
        [0, 'loaded'],
        [1, 'loaded'],
        [1, 'loaded'],
      ],
      { impressions: 1 },
    ],
    ['a play without a picture', [[1, 'play', 0]], { plays: 1 }],
    [
      'a start, and the time to the first picture without what it showed',
      begun,
      {
        impressions: 1,
        plays: 1,
        starts: 1,
        impression_times: 1,
        impression_ms: 500,
        watches: 1,
        watch_ms: 500,
      },
    ],
    [
      'no start in the middle',
      [
        [1, 'play', 60],
        [2, 'timeupdate', 61],
      ],
      { plays: 1, impression_times: 1, watches: 1, watch_ms: 1_000 },
    ],
    [
      'an end once',
      [
        [1, 'end', 9],
        [2, 'end', 9],
      ],
      { ends: 1 },
    ],
    [
      'nothing watched while paused',
      [
        [0, 'play', 0],
        [1, 'pause', 1],
        [20, 'paused', 9],
        [21, 'timeupdate', 9],
      ],
      { plays: 1, starts: 1, impression_times: 1, impression_ms: 12_000, watches: 1, watch_ms: 1_000 },
    ],
    [
      'nothing watched across a seek',
      [
        [0, 'play', 0],
        [2, 'seek', 50],
        [3, 'pause', 51],
      ],
      { plays: 1, watches: 1, watch_ms: 1_000 },
    ],
    [
      'never more watched than time has passed',
      [
        [0, 'play', 0],
        [2, 'pause', 900],
      ],
      { plays: 1, watches: 1, watch_ms: 2_000 },
    ],
    [
      'nothing watched backwards',
      [
        [0, 'play', 10],
        [2, 'pause', 5],
      ],
      { plays: 1 },
    ],
    [
      'half a minute at most of a long silence',
      [
        [0, 'play', 0],
        [4_000, 'pause', 4_000],
      ],
      { plays: 1, watches: 1, watch_ms: 30_000, views3: 1, views5: 1, views10: 1, views30: 1 },
    ],
    [
      'time by the clock where no positions are told',
      [
        [0, 'play'],
        [7, 'pause'],
      ],
      { plays: 1, watches: 1, watch_ms: 7_000, views3: 1, views5: 1 },
    ],
    [
      'another play after other media came in',
      [
        [0, 'loaded', 0],
        [1, 'play', 0],
        [2, 'source'],
        [3, 'play', 0],
      ],
      { impressions: 1, plays: 2 },
    ],
    [
      'nothing of a report that came twice',
      [...begun, ...begun],
      {
        impressions: 1,
        plays: 1,
        starts: 1,
        impression_times: 1,
        impression_ms: 500,
        watches: 1,
        watch_ms: 500,
      },
    ],
    [
      'nothing of what was before other media came in',
      [
        [5, 'play', 0],
        [6, 'source'],
        [5, 'play', 0],
        [4, 'end', 3],
      ],
      { plays: 1 },
    ],
  ])('%s', (_, steps, expected) => {
    expect(outcome(steps).sums).toEqual(expected);
  });

  it('starts anywhere in a live stream', () => {
    expect(
      outcome(
        [
          [1, 'play', 600],
          [2, 'timeupdate', 601],
        ],
        true,
      ).sums.starts,
    ).toBe(1);
  });

  it('counts nothing again that is remembered', () => {
    const first = new Playback(false, began);
    take(first, begun);
    expect(outcome([...begun, [3, 'play', 1]], false, { ...first.state }).sums).toEqual({});
  });

  it('cannot be watched for longer than it is known', () => {
    const playback = new Playback(false, began);
    for (let second = 0; second < 2_000; second += 20) {
      const clientMs = second * 1000;
      const type = second === 0 ? 'play' : 'timeupdate';
      playback.handle({ type, clientMs, atMs: began, position: second, isPaused: false }, began);
    }
    expect(facts(playback).sums.watch_ms).toBe(60_000);
  });

  it.each<[string, readonly Step[], number[][]]>([
    [
      'one stay',
      [
        [1, 'play', 0],
        [15, 'timeupdate', 14],
        [25, 'timeupdate', 24],
      ],
      [[0, 2]],
    ],
    [
      'two intervals around an absence',
      [
        [1, 'play', 0],
        [5, 'pause', 4],
        [120, 'play', 4],
        [125, 'pause', 9],
      ],
      [
        [0, 0],
        [12, 12],
      ],
    ],
    [
      'one stay around a short pause',
      [
        [1, 'play', 0],
        [5, 'pause', 4],
        [31, 'play', 4],
      ],
      [[0, 3]],
    ],
  ])('is there for %s', (_, steps, expected) => {
    expect(outcome(steps).intervals).toEqual(expected);
  });

  it('gives only what is new', () => {
    const playback = new Playback(false, began);
    take(playback, begun);
    playback.collect();
    expect(playback.hasUpdates).toBe(false);
    take(playback, [[4, 'timeupdate', 2.5]]);
    expect(facts(playback).sums).toEqual({ watch_ms: 2_000 });
  });

  it('keeps one interval for each slot of a player that begins again and again, and few that cannot be written', () => {
    const playback = new Playback(true, began);
    let clientMs = 0;
    const begin = (atMs: number) => {
      for (const type of ['source', 'play'] as const)
        playback.handle({ type, clientMs: ++clientMs, atMs, position: 0, isPaused: false }, atMs);
    };
    for (let count = 0; count < 300; count += 1) begin(began);
    const collected = playback.collect();
    expect(collected.intervals).toHaveLength(1);
    playback.putBack(collected);
    for (let count = 1; count < 1_000; count += 1) {
      begin(began + count * 60_000);
      playback.putBack(playback.collect());
    }
    const { intervals, counts } = playback.collect();
    expect(intervals.length).toBeLessThan(110);
    expect(counts.size).toBeLessThan(40);
  });

  it('stores the end of a viewer who has left and came back although writes failed meanwhile', () => {
    const playback = new Playback(true, began);
    take(playback, [
      [0, 'play', 0],
      [5, 'timeupdate', 5],
    ]);
    const [ahead] = playback.collect(7).intervals;
    expect(ahead?.endSlot).toBe(ahead!.lastSlot + 7);
    take(playback, [
      [300, 'play', 5],
      [305, 'timeupdate', 10],
    ]);
    playback.putBack(playback.collect(7));
    const again = playback.collect().intervals.find(({ firstSlot }) => firstSlot === ahead!.firstSlot);
    expect(again).toMatchObject({ endSlot: ahead!.lastSlot, replacesEnd: true });
  });
});
