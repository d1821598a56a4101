import { expect, test } from 'vitest';
import { ProgressReader } from '../../../src/ffmpeg/progress-reader.ts';

function timesOf(...blocks: string[]): number[] {
  const times: number[] = [];
  const reader = new ProgressReader(({ timeSeconds }) => times.push(timeSeconds));
  for (const line of blocks.join('').trimEnd().split('\n'))
    expect([line, reader.takeLine(line)]).toEqual([line, true]);
  return times;
}

const block = (frame: number, microseconds: number | string, end = 'continue') =>
  `frame=${frame}\nfps=0.0\ntotal_size=${frame * 10}\nout_time_ms=${microseconds}\nout_time=ignored\nprogress=${end}\n`;

test('reports the time of each block', () => {
  expect(timesOf(block(1, 33_333), block(30, 1_000_000), block(31, 1_033_333, 'end'))).toEqual([
    0.033333, 1, 1.033333,
  ]);
});

test('reads the newer name of the time', () => {
  expect(timesOf('frame=1\nout_time_us=2500000\nout_time_ms=2500000\nprogress=continue\n')).toEqual([2.5]);
});

test('reports zero before the first packet, and never goes back', () => {
  expect(timesOf(block(1, 'N/A'), block(2, '-9223372036854'), block(3, 500_000), block(4, 400_000))).toEqual([
    0, 0, 0.5, 0.5,
  ]);
});

test('ignores a block without changes', () => {
  expect(timesOf(block(1, 100), block(1, 100), block(2, 100))).toHaveLength(2);
});

test('leaves lines of the log alone', () => {
  const reader = new ProgressReader(() => {});
  for (const line of ['[mp4 @ 0x1] frame=1', 'Error opening input: x=1', ''])
    expect([line, reader.takeLine(line)]).toEqual([line, false]);
});
