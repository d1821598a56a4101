import { expect, test } from 'vitest';
import { ProgressReader } from '../../../src/ffmpeg/progress-reader.ts';

function timesOf(...pieces: string[]): number[] {
  const times: number[] = [];
  const reader = new ProgressReader(({ timeSeconds }) => times.push(timeSeconds));
  for (const piece of pieces) reader.push(piece);
  return times;
}

const block = (frame: number, microseconds: number | string, end = 'continue') =>
  `frame=${frame}\nfps=0.0\ntotal_size=${frame * 10}\nout_time_ms=${microseconds}\nout_time=ignored\nprogress=${end}\n`;

test('gives the time of each block, wherever the text is cut', () => {
  const text = block(1, 33_333) + block(30, 1_000_000) + block(31, 1_033_333, 'end');
  expect(timesOf(text)).toEqual([0.033333, 1, 1.033333]);
  expect(timesOf(...text)).toEqual([0.033333, 1, 1.033333]);
});

test('takes the newer name of the time as well', () => {
  expect(timesOf('frame=1\nout_time_us=2500000\nout_time_ms=2500000\nprogress=continue\n')).toEqual([2.5]);
});

test('shows no time before there is one, and never one that goes back', () => {
  expect(timesOf(block(1, 'N/A'), block(2, '-9223372036854'), block(3, 500_000), block(4, 400_000))).toEqual([
    0, 0, 0.5, 0.5,
  ]);
});

test('a block that shows nothing new is no progress', () => {
  expect(timesOf(block(1, 100), block(1, 100), block(2, 100))).toHaveLength(2);
});

test('keeps no endless line', () => {
  expect(timesOf('x'.repeat(100_000), `\n${block(1, 1_000_000)}`)).toEqual([1]);
});
