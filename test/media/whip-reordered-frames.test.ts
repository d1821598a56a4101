import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { VideoReceiver } from '../../src/ingest/whip/video-receiver.ts';
import { avcOrder, avcParameters } from '../../src/media/codecs/parameter-set.ts';
import { compositionMs, type MediaEvent, timestampMs } from '../../src/media/samples/media-sample.ts';
import { ffmpegPath, ffprobe, runToEnd } from '../support/ffmpeg.ts';
import { recordTags } from '../support/replay.ts';
import { parsedRtp, rtpPacket, sealRtp } from '../support/rtp.ts';
import { type RtpFrameToSend, rtpFramesOf } from '../support/rtp-frames.ts';
import { startServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { WebRtcClient } from '../support/webrtc-client.ts';

interface ReceivedFrame {
  readonly dtsMs: number;
  readonly ptsMs: number;
  readonly isKeyframe: boolean;
}

/** @param timestampOf in ms */
function receive(
  frames: readonly RtpFrameToSend[],
  timestampOf: (frame: RtpFrameToSend) => number,
  codec: 'avc1' | 'hvc1' = 'avc1',
): ReceivedFrame[] {
  const events: MediaEvent[] = [];
  const video = new VideoReceiver({
    codec,
    timeOf: timestamp => timestamp / 90,
    emit: event => events.push(event),
    requestKeyframe: () => {},
  });
  let sequenceNumber = 0;
  for (const frame of frames) {
    for (const [index, payload] of frame.payloads.entries()) {
      const isMarked = index === frame.payloads.length - 1;
      const timestamp = (1_000 + timestampOf(frame)) * 90;
      const packet = parsedRtp({ sequenceNumber: sequenceNumber++, timestamp, payload, isMarked });
      video.push({ packet, arrivedAtMs: frame.dtsMs, missing: 0 }, frame.dtsMs);
    }
  }
  return events
    .filter(event => event.type === 'sample')
    .map(sample => ({
      dtsMs: timestampMs(sample),
      ptsMs: timestampMs(sample) + compositionMs(sample),
      isKeyframe: sample.isKeyframe,
    }));
}

/** Removes the information how many frames are reordered, as some encoders do. */
function withoutUsability(sps: Buffer): Buffer {
  const { size } = avcParameters(sps)!;
  const bits = [...sps].map(byte => byte.toString(2).padStart(8, '0')).join('');
  for (let at = 40; at < bits.length; at++) {
    const text = `${bits.slice(0, at)}01`;
    const bytes = text.match(/.{1,8}/g)!.map(each => Number.parseInt(each.padEnd(8, '0'), 2));
    const shorter = Buffer.from(bytes);
    const order = avcOrder(shorter);
    const parameters = avcParameters(shorter);
    if (
      order !== undefined &&
      parameters?.size.height === size.height &&
      parameters.size.width === size.width
    )
      return shorter;
  }
  throw new Error('The SPS has no usability information.');
}

const record = (args: readonly string[], fps: number) =>
  recordTags({ seconds: 6, fps, extraArgs: ['-an', '-tune', 'animation', ...args] });

/** Times differ from those of the encoder by as much for each frame. */
function expectTimes(received: readonly ReceivedFrame[], sent: readonly RtpFrameToSend[]): void {
  const shift = received.at(-1)!.ptsMs - sent.at(-1)!.ptsMs;
  const first = sent.length - received.length;
  for (const [index, { ptsMs, dtsMs }] of received.entries()) {
    expect(Math.abs(ptsMs - sent[first + index]!.ptsMs - shift)).toBeLessThanOrEqual(3);
    expect(dtsMs).toBeLessThanOrEqual(ptsMs);
    if (index > 0) expect(dtsMs).toBeGreaterThan(received[index - 1]!.dtsMs);
  }
  // Frames are not all decoded when they are displayed.
  expect(received.filter(({ ptsMs, dtsMs }) => ptsMs > dtsMs).length).toBeGreaterThan(received.length / 4);
}

const streams: [string, string[], number][] = [
  ['two B-frames', ['-bf', '2', '-x264-params', 'b-adapt=0:b-pyramid=none'], 25],
  ['a pyramid of B-frames', ['-bf', '5', '-x264-params', 'b-adapt=0:b-pyramid=normal'], 25],
  ['as many B-frames as the encoder likes', ['-bf', '16', '-x264-params', 'b-adapt=2:ref=6'], 30],
];

test.each(streams)('%s are decoded before they are displayed', async (_, args, fps) => {
  const frames = rtpFramesOf(await record(args, fps));
  for (const timestampOf of [({ ptsMs }: RtpFrameToSend) => ptsMs, ({ dtsMs }: RtpFrameToSend) => dtsMs]) {
    const received = receive(frames, timestampOf);
    expect(received).toHaveLength(frames.length);
    expectTimes(received, frames);
  }
});

const hevc = (options: string) => ['-c:v', 'libx265', '-x265-params', `keyint=50:log-level=error:${options}`];
const hevcStreams: [string, string[]][] = [
  ['two B-frames', hevc('bframes=2:b-adapt=0:b-pyramid=0:open-gop=0')],
  ['a pyramid of B-frames', hevc('bframes=5:b-adapt=0:b-pyramid=1:open-gop=0:rc-lookahead=20')],
  ['B-frames across keyframes', hevc('bframes=4:b-adapt=0:open-gop=1')],
];

test.each(hevcStreams)('H.265: %s are decoded before they are displayed', async (_, args) => {
  const frames = rtpFramesOf(await record(args, 25));
  for (const timestampOf of [({ ptsMs }: RtpFrameToSend) => ptsMs, ({ dtsMs }: RtpFrameToSend) => dtsMs]) {
    const received = receive(frames, timestampOf, 'hvc1');
    expect(received).toHaveLength(frames.length);
    expectTimes(received, frames);
  }
});

test('H.265 without B-frames is passed on at once', async () => {
  const frames = rtpFramesOf(await record(hevc('bframes=0'), 25));
  expect(receive(frames.slice(0, 1), ({ ptsMs }) => ptsMs, 'hvc1')).toHaveLength(1);
});

test.each(streams)('%s that the encoder does not announce are noticed', async (_, args, fps) => {
  const frames = rtpFramesOf(await record(args, fps), withoutUsability);
  for (const timestampOf of [({ ptsMs }: RtpFrameToSend) => ptsMs, ({ dtsMs }: RtpFrameToSend) => dtsMs]) {
    const received = receive(frames, timestampOf);
    // The frames up to the first keyframes may be lost.
    const fromKeyframe = received.slice(received.findLastIndex(({ isKeyframe }) => isKeyframe));
    expect(fromKeyframe.length).toBeGreaterThan(20);
    expectTimes(fromKeyframe, frames);
    expect(received.length).toBeGreaterThan(frames.length / 2);
  }
});

test('frames without B-frames are passed on at once, with one time', async () => {
  const frames = rtpFramesOf(await record(['-bf', '0'], 25));
  const received = receive(frames, ({ ptsMs }) => ptsMs);
  expect(received).toHaveLength(frames.length);
  expect(received.every(({ dtsMs, ptsMs }) => dtsMs === ptsMs)).toBe(true);
  expect(receive(frames.slice(0, 1), ({ ptsMs }) => ptsMs)).toHaveLength(1);
});

test('a broadcast over WHIP with B-frames is played in order, without gaps', async () => {
  const server = await startServer({ 'live.stopGrace': '100ms' });
  onTestFinished(() => server.stop());
  const { streamKey, liveStreamId } = await server.createStream();
  const client = await WebRtcClient.publish(`${server.baseUrl}/whip/${streamKey}`, server.app.webrtcPort!);
  const path = await client.pathAt('127.0.0.1', true);
  client.check(path);
  await client.startDtls(path);
  const protection = await client.protection();
  const frames = rtpFramesOf(await record(streams[1]![1], 25));
  let sequenceNumber = 0;
  const startedMs = performance.now();
  for (const { dtsMs, ptsMs, payloads } of frames) {
    const wait = dtsMs - (performance.now() - startedMs);
    if (wait > 0) await sleep(wait);
    for (const [index, payload] of payloads.entries()) {
      const isMarked = index === payloads.length - 1;
      const fields = { sequenceNumber: sequenceNumber++, timestamp: ptsMs * 90, payload, isMarked };
      path.send(sealRtp(protection, rtpPacket({ ...fields, payloadType: 102 })));
    }
  }
  const url = `${server.baseUrl}/${liveStreamId}.m3u8`;
  const playlist = await waitUntil(async () => {
    const response = await fetch(url);
    return response.ok && (await response.text());
  });
  expect(playlist).toContain('avc1');
  await fetch(client.session, { method: 'DELETE' });
  const packets = await ffprobe([
    ...['-v', 'error', '-live_start_index', '0', '-show_entries', 'packet=pts,dts', '-of', 'csv=p=0', url],
  ]);
  const times = packets
    .trim()
    .split('\n')
    .map(line => line.split(',').map(Number) as [number, number]);
  expect(times.length).toBeGreaterThan(75);
  expect(times.filter(([pts, dts]) => pts !== dts).length).toBeGreaterThan(times.length / 4);
  expect(times.every(([pts, dts]) => pts >= dts)).toBe(true);
  const shown = times.map(([pts]) => pts).toSorted((one, other) => one - other);
  const steps = shown.slice(1).map((pts, index) => pts - shown[index]!);
  // 40 ms at 90 kHz.
  expect(steps.filter(step => Math.abs(step - 3_600) > 180)).toEqual([]);
  await runToEnd(ffmpegPath, [
    '-v',
    'error',
    '-xerror',
    '-live_start_index',
    '0',
    '-i',
    url,
    '-f',
    'null',
    '-',
  ]);
});
