import { expect, test } from 'vitest';
import type { AudioEncoderEvents } from '../../../../src/live/transcode/audio-encoder.ts';
import { type EncodedAudioFrame, flvAudioInput } from '../../../../src/live/transcode/audio-input.ts';
import { AudioTranscoder } from '../../../../src/live/transcode/audio-transcoder.ts';

const frameMs = (1024 * 1000) / 48_000;
const aacFrame = (data = Buffer.of(1)) => ({
  trackId: 1,
  dtsTicks: 0,
  durationTicks: 1024,
  compositionOffsetTicks: 0,
  isSync: true,
  data,
});
const input = (atMs: number): EncodedAudioFrame => ({ atMs, durationTicks: 0, data: Buffer.of(0x2f, 1) });

function start() {
  const encoders: { readonly events: AudioEncoderEvents; readonly written: number[]; isFinished: boolean }[] =
    [];
  const samples: { dtsTicks: number; durationTicks: number }[] = [];
  const reports: string[] = [];
  const transcoder = new AudioTranscoder({
    input: flvAudioInput,
    startEncoder: (_, events) => {
      const encoder = { events, written: [] as number[], isFinished: false };
      encoders.push(encoder);
      return {
        write: ({ atMs }) => encoder.written.push(atMs),
        finish: async () => {
          encoder.isFinished = true;
          events.exited(undefined);
        },
        kill: async () => events.exited(undefined),
      };
    },
    onSample: ({ dtsTicks, durationTicks }) => samples.push({ dtsTicks, durationTicks }),
    onFailed: report => reports.push(report),
  });
  return { transcoder, encoders, samples, reports };
}

test('frames follow each other without gaps where the times of the input are rounded', () => {
  const { transcoder, encoders, samples } = start();
  transcoder.write(input(1000));
  for (let index = 0; index < 100; index++) {
    encoders[0]!.events.sample(aacFrame(), 1000 + Math.round(index * frameMs));
  }
  expect(samples).toHaveLength(100);
  expect(samples[0]).toEqual({ dtsTicks: 48_000, durationTicks: 1024 });
  for (const [index, { dtsTicks }] of samples.entries()) expect(dtsTicks).toBe(48_000 + index * 1024);
});

test('a gap of the input stays one, and no time is repeated', () => {
  const { transcoder, encoders, samples } = start();
  transcoder.write(input(1000));
  for (const atMs of [1000, 1021.33, 3000, 3021.33, 1500]) encoders[0]!.events.sample(aacFrame(), atMs);
  expect(samples.map(({ dtsTicks }) => dtsTicks)).toEqual([48_000, 49_024, 144_000, 145_024]);
});

test('a failed encoder is replaced, each time later', () => {
  const { transcoder, encoders, reports } = start();
  transcoder.write(input(0));
  encoders[0]!.events.exited('signal SIGSEGV');
  transcoder.write(input(500));
  expect(encoders).toHaveLength(1);
  transcoder.write(input(1000));
  expect(encoders).toHaveLength(2);
  encoders[1]!.events.exited('signal SIGSEGV');
  transcoder.write(input(2500));
  expect(encoders).toHaveLength(2);
  transcoder.write(input(3000));
  expect(encoders).toHaveLength(3);
  expect(encoders.map(({ written }) => written)).toEqual([[0], [1000], [3000]]);
  expect(reports).toEqual(['signal SIGSEGV', 'signal SIGSEGV']);
});

test('the end waits for the encoder', async () => {
  const { transcoder, encoders, reports } = start();
  transcoder.write(input(0));
  await transcoder.finish();
  expect(encoders[0]?.isFinished).toBe(true);
  transcoder.write(input(20));
  expect(encoders).toHaveLength(1);
  expect(reports).toEqual([]);
});
