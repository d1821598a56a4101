import { describe, expect, test } from 'vitest';
import { ClockSurvey } from '../../../../src/ffmpeg/probe/clock-survey.ts';

const video = 0;
const audio = 1;

/** Packets as `[stream, pts]` or `[stream, pts, dts]`. */
function clockOf(packets: readonly (readonly [number, number, number?])[], streams = [video, audio]) {
  const survey = new ClockSurvey(new Map(streams.map(stream => [stream, stream === video])));
  for (const [stream, pts, dts] of packets) survey.takeLine(`${stream},${pts},${dts ?? 'N/A'},`);
  return survey.clock;
}

function times(stream: number, from: number, to: number, step: number): [number, number][] {
  return Array.from({ length: Math.round((to - from) / step) }, (_, index) => [stream, from + index * step]);
}

function inOrder(...packets: readonly [number, number][][]): [number, number][] {
  return packets.flat().sort(([, one], [, other]) => one - other);
}

describe('a steady clock', () => {
  test.each<[string, readonly (readonly [number, number, number?])[], [number, number][]]>([
    [
      'pictures that stand still while the audio goes on',
      inOrder(times(video, 1.4, 60, 12), times(audio, 1.5, 60, 0.5)),
      [
        [video, 1.4],
        [audio, 1.5],
      ],
    ],
    ['pictures without audio', times(video, 0, 240, 60), [[video, 0]]],
    [
      'audio that is away while the video goes on',
      inOrder(times(video, 0, 40, 0.5), times(audio, 0, 5, 0.5), times(audio, 30, 40, 0.5)),
      [
        [video, 0],
        [audio, 0],
      ],
    ],
    [
      'pictures that are decoded long before they are shown',
      [
        [video, 1.4, -22.6],
        [video, 49.4, -10.6],
        [audio, 1.5],
        [video, 25.4, 1.4],
        [video, 13.4, 13.4],
      ],
      [
        [video, 1.4],
        [audio, 1.5],
      ],
    ],
    [
      'audio whose times run ahead within its packets',
      [
        [audio, 0],
        [audio, 0.05],
        [audio, 0.1],
        [audio, 0.15],
        [audio, 0.25],
        [audio, 0.1],
        [audio, 0.15],
      ],
      [[audio, 0]],
    ],
    [
      'a low frame rate with delay',
      [
        [video, 2, 0],
        [video, 4, 1],
        [video, 3, 2],
      ],
      [[video, 2]],
    ],
  ])('%s', (_, packets, starts) => {
    expect(clockOf(packets)).toEqual({ kind: 'steady', startSeconds: new Map(starts) });
  });
});

describe('a clock that changes', () => {
  const piece = (from: number) =>
    inOrder(times(video, from, from + 4, 0.04), times(audio, from, from + 4, 0.02));

  test.each([
    ['backwards', [...piece(500), ...piece(1)]],
    ['forwards', [...piece(1), ...piece(500)]],
    ['to and fro', [...piece(1), ...piece(500), ...piece(20)]],
    ['forwards, video only', [...times(video, 1, 5, 0.04), ...times(video, 5000, 5004, 0.04)]],
  ])('%s: the pieces follow each other', (_, packets) => {
    const clock = clockOf(packets);
    const pieces = packets.filter(([stream]) => stream === video).length / 100;
    expect(clock).toMatchObject({ kind: 'changing' });
    if (clock.kind === 'changing') expect(clock.durationSeconds).toBeCloseTo(4 * pieces, 0);
  });
});

test('a clock that ffmpeg understands, lines that are no packets, and streams that are not played', () => {
  const usual = inOrder(times(video, 1.4, 20, 0.04), times(audio, 1.4, 20, 0.02));
  expect(clockOf([...usual, [7, 5000]])).toEqual({ kind: 'usual' });
  const survey = new ClockSurvey(new Map([[video, true]]));
  for (const line of ['', 'side_data,', '0,N/A,N/A,', '0,-,.,', 'x']) survey.takeLine(line);
  expect(survey.clock).toEqual({ kind: 'usual' });
});
