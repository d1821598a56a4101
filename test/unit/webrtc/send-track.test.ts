import { expect, test } from 'vitest';
import { readNacks, readSenderReports, writeNack } from '../../../src/media/rtp/rtcp.ts';
import { parseRtp } from '../../../src/media/rtp/rtp-packet.ts';
import { type OutgoingPacket, SendTrack } from '../../../src/webrtc/rtp/send-track.ts';
import type { RtpCodec } from '../../../src/webrtc/sdp/session-description.ts';

const codec: RtpCodec = {
  payloadType: 102,
  name: 'H264',
  clockRate: 90_000,
  channels: 1,
  format: '',
  feedback: ['nack'],
  parameters: new Map(),
};
const parse = ({ header, payload }: OutgoingPacket) => parseRtp(Buffer.concat([header, payload]))!;
const frame = (timestamp: number, count: number) => ({
  timestamp,
  ntpMs: timestamp / 90,
  payloads: Array.from({ length: count }, (_, index) => Buffer.from([index])),
});

test('packets of a frame have one timestamp, rising numbers, and a mark at the end', () => {
  const track = new SendTrack('video', codec, 'broadcast');
  const packets = track.packets(frame(2 ** 32 + 5, 3)).map(parse);
  const first = packets[0]!.sequenceNumber;
  expect(packets).toMatchObject([
    { timestamp: 5, sequenceNumber: first, isMarked: false, ssrc: track.ssrc, payloadType: 102 },
    { timestamp: 5, sequenceNumber: first + 1, isMarked: false },
    { timestamp: 5, sequenceNumber: first + 2, isMarked: true, payload: Buffer.from([2]) },
  ]);
});

test('a lost packet is sent again as it was, a few times, while it is kept', () => {
  const track = new SendTrack('video', codec, 'broadcast');
  const sent = track.packets(frame(90, 40));
  const number = parse(sent[7]!).sequenceNumber;
  expect(track.again(number)).toEqual(sent[7]);
  for (let round = 0; round < 4; round++) track.again(number);
  expect(track.again(number)).toBeUndefined();
  const other = parse(sent[8]!).sequenceNumber;
  track.packets(frame(180, 1_024));
  expect(track.again(other)).toBeUndefined();
  expect(track.totals).toMatchObject({ packets: 1_064, resent: 5 });
});

test('a sender report ties the media to the clock, once per change', () => {
  const track = new SendTrack('video', codec, 'broadcast');
  expect(track.report()).toBeUndefined();
  track.packets({ ...frame(900_000, 1), ntpMs: 3_900_000_000_250 });
  expect(readSenderReports(track.report()!)).toMatchObject([
    { ssrc: track.ssrc, ntpMs: 3_900_000_000_250, rtpTimestamp: 900_000 },
  ]);
  expect(track.report()).toBeUndefined();
});

test('requests for lost packets are read as they are written', () => {
  const numbers = [65_534, 65_535, 0, 14, 40, 41];
  expect(readNacks(writeNack(1, 2, numbers))).toEqual([{ mediaSsrc: 2, sequenceNumbers: numbers }]);
  expect(readNacks(Buffer.from('81cd0002000000010000000200', 'hex'))).toEqual([]);
});
