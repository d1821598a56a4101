import { expect, test } from 'vitest';
import {
  ntpMiddleOf,
  readNacks,
  readReceptionReports,
  readSenderReports,
  writeNack,
  writeReceiverReport,
} from '../../../src/media/rtp/rtcp.ts';
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
  expect(track.report(0)).toBeUndefined();
  track.packets({ ...frame(900_000, 1), ntpMs: 3_900_000_000_250 });
  expect(readSenderReports(track.report(0)!)).toMatchObject([
    { ssrc: track.ssrc, ntpMs: 3_900_000_000_250, rtpTimestamp: 900_000 },
  ]);
  expect(track.report(0)).toBeUndefined();
});

test('requests for lost packets are read as they are written', () => {
  const numbers = [65_534, 65_535, 0, 14, 40, 41];
  expect(readNacks(writeNack(1, 2, numbers), 100)).toEqual([{ mediaSsrc: 2, sequenceNumbers: numbers }]);
  expect(readNacks(Buffer.from('81cd0002000000010000000200', 'hex'), 100)).toEqual([]);
});

test('requests for very many packets are cut, and those for unknown ones have no effect', () => {
  const numbers = Array.from({ length: 20_000 }, (_, index) => index * 3);
  const [nack] = readNacks(writeNack(1, 2, numbers), 1_024);
  expect(nack!.sequenceNumbers.length).toBeLessThanOrEqual(1_024);
  const all = Buffer.concat(Array.from({ length: 100 }, () => writeNack(1, 2, numbers.slice(0, 600))));
  expect(readNacks(all, 1_024).flatMap(({ sequenceNumbers }) => sequenceNumbers).length).toBeLessThan(1_100);
  const track = new SendTrack('video', codec, 'broadcast');
  const first = parse(track.packets(frame(90, 2))[0]!).sequenceNumber;
  expect([track.miss(first), track.miss(first), track.miss(first + 2), track.miss(first + 1_024)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('reports of the receiver tell its losses, and which report of the server it got', () => {
  const track = new SendTrack('video', codec, 'broadcast');
  track.packets({ ...frame(900_000, 1), ntpMs: 3_900_000_000_250 });
  const [sent] = readSenderReports(track.report(5_000)!);
  expect(ntpMiddleOf(3_900_000_000_250)).toBe(sent!.ntpMiddle);
  expect(track.reportSentAtMs(sent!.ntpMiddle)).toBe(5_000);
  expect(track.reportSentAtMs(7)).toBeUndefined();
  const report = { ssrc: 2, fractionLost: 0, highestSequenceNumber: 9, jitter: 0 };
  const lastReport = { ntpMiddle: sent!.ntpMiddle, delayMs: 250 };
  const written = writeReceiverReport(1, [
    { ...report, packetsLost: 40, lastReport },
    { ...report, ssrc: 3, packetsLost: -2, lastReport: undefined },
  ]);
  expect(readReceptionReports(written)).toEqual([
    { mediaSsrc: 2, packetsLost: 40, lastReport: { ...lastReport, delayMs: expect.closeTo(250, 0) } },
    { mediaSsrc: 3, packetsLost: -2, lastReport: undefined },
  ]);
  expect(readReceptionReports(written.subarray(0, 40))).toEqual([]);
});
