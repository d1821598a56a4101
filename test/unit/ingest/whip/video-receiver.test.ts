import { expect, test } from 'vitest';
import { VideoReceiver } from '../../../../src/ingest/whip/video-receiver.ts';
import { type MediaEvent, timestampMs } from '../../../../src/media/samples/media-sample.ts';
import { parsedRtp } from '../../../support/rtp.ts';

const sps = Buffer.from('6742c01fd9005005bb016a02020280000003008000001e078c1924', 'hex');
const pps = Buffer.from('68cb83cb20', 'hex');
const idr = Buffer.from('6588840a', 'hex');
const slice = Buffer.from('419a0203', 'hex');
const parameterSets = Buffer.concat([
  Buffer.from([0x78, 0, sps.length]),
  sps,
  Buffer.from([0, pps.length]),
  pps,
]);

function receiver(codec: 'avc1' | 'vp08' = 'avc1') {
  const events: MediaEvent[] = [];
  const state = { requests: 0 };
  const video = new VideoReceiver({
    codec,
    timeOf: timestamp => timestamp / 90,
    emit: event => events.push(event),
    requestKeyframe: () => (state.requests += 1),
  });
  let sequenceNumber = 0;
  /** Pushes a frame of these payloads. */
  const push = (ms: number, payloads: readonly Buffer[], missing = 0) => {
    for (const [index, payload] of payloads.entries()) {
      const isMarked = index === payloads.length - 1;
      const packet = parsedRtp({ sequenceNumber: sequenceNumber++, timestamp: ms * 90, payload, isMarked });
      video.push({ packet, arrivedAtMs: ms, missing: index === 0 ? missing : 0 }, ms);
    }
  };
  const received = () =>
    events.map(event =>
      event.type === 'sample' ? [event.isKeyframe ? 'keyframe' : 'frame', timestampMs(event)] : [event.type],
    );
  const times = () => received().flatMap(([, atMs]) => atMs ?? []);
  return { push, received, times, state };
}

test('a keyframe brings its configuration, and the frames after it follow', () => {
  const { push, received } = receiver();
  push(0, [slice]);
  push(40, [parameterSets, idr]);
  push(80, [slice]);
  expect(received()).toEqual([['config'], ['keyframe', 40], ['frame', 80]]);
});

test('parameter sets may have a timestamp of their own', () => {
  const { push, times, state } = receiver();
  push(0, [parameterSets]);
  push(30, [idr]);
  push(60, [pps]);
  push(600, [slice]);
  expect(times()).toEqual([30, 600]);
  expect(state.requests).toBe(0);
});

test('after a loss, frames are left out up to the keyframe that is asked for', () => {
  const { push, times, state } = receiver();
  push(0, [parameterSets, idr]);
  push(600, [slice]);
  push(640, [slice], 1);
  expect(state.requests).toBe(1);
  push(680, [slice]);
  push(720, [parameterSets, idr]);
  push(760, [slice]);
  expect(state.requests).toBe(1);
  expect(times()).toEqual([0, 600, 720, 760]);
});

test('keyframes are asked for as often as players need them', () => {
  const { push, state } = receiver();
  push(0, [parameterSets, idr]);
  for (let ms = 100; ms <= 2_000; ms += 100) push(ms, [slice]);
  expect(state.requests).toBe(1);
  for (let ms = 2_100; ms < 2_600; ms += 100) push(ms, [slice]);
  expect(state.requests).toBe(2);
});

test('VP8 goes on after losses, broken frames and frames of other codecs at the next keyframe', () => {
  const { push, received, state } = receiver('vp08');
  const partition = Buffer.from('112233445566', 'hex');
  const key = (width: number) =>
    Buffer.concat([Buffer.from([0x10, 0x90, 0, 0, 0x9d, 1, 0x2a, width, 0, 90, 0]), partition]);
  const inter = Buffer.concat([Buffer.from([0x10, 0x91, 0, 0]), partition]);
  push(0, [inter]);
  push(600, [key(160)]);
  push(640, [inter]);
  push(680, [inter], 1);
  push(720, [inter]);
  push(1_200, [key(160)]);
  push(1_240, [parameterSets, idr]);
  push(1_280, [inter]);
  push(1_800, [key(80)]);
  push(1_840, [inter]);
  expect(received()).toEqual([
    ['config'],
    ['keyframe', 600],
    ['frame', 640],
    ['keyframe', 1_200],
    ['config'],
    ['keyframe', 1_800],
    ['frame', 1_840],
  ]);
  expect(state.requests).toBe(2);
});
