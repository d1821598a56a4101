import { expect, test } from 'vitest';
import {
  readSenderReports,
  writeNack,
  writePictureLoss,
  writeReceiverReport,
  writeTransportFeedback,
} from '../../../../src/media/rtp/rtcp.ts';
import { Random } from '../../../support/random.ts';

test('a sender report is read behind other packets', () => {
  const report = Buffer.alloc(28);
  report.set([0x80, 200, 0, 6]);
  report.writeUInt32BE(0xabcd, 4);
  report.writeUInt32BE(0xe0000001, 8);
  report.writeUInt32BE(0x80000000, 12);
  report.writeUInt32BE(90_000, 16);
  const compound = Buffer.concat([writeReceiverReport(1, []), report]);
  expect(readSenderReports(compound)).toEqual([
    { ssrc: 0xabcd, ntpMs: 0xe0000001 * 1000 + 500, ntpMiddle: 0x18000, rtpTimestamp: 90_000 },
  ]);
});

test('a receiver report has what the sender needs for its round trip', () => {
  const bytes = writeReceiverReport(1, [
    {
      ssrc: 2,
      fractionLost: 0.25,
      packetsLost: 3,
      highestSequenceNumber: 0x1_0005,
      jitter: 9.4,
      lastReport: { ntpMiddle: 0x11223344, delayMs: 500 },
    },
  ]);
  expect(bytes.toString('hex')).toBe('81c9000700000001000000024000000300010005000000091122334400008000');
});

test('requests for lost packets share entries', () => {
  const bytes = writeNack(1, 2, [65_535, 0, 16, 30]);
  expect(bytes.toString('hex')).toBe('81cd00040000000100000002ffff0001001020 00'.replace(' ', ''));
});

test('a keyframe is asked for with a picture loss indication', () => {
  expect(writePictureLoss(1, 2).toString('hex')).toBe('81ce00020000000100000002');
});

test('arrival times are reported with gaps, large and negative differences', () => {
  const bytes = writeTransportFeedback({
    senderSsrc: 1,
    mediaSsrc: 2,
    firstNumber: 0x1_0010,
    count: 258,
    arrivalsUs: [64_000 * 3 + 500, undefined, 64_000 * 3 + 1_000, 64_000 * 3, 64_000 * 3 + 100_000],
  });
  expect(bytes.toString('hex')).toBe(
    ['8fcd0006', '00000001', '00000002', '00100005', '00000302'].join('') + // reference time 3, count 2
      'd1a0' + // small, missing, small, large, large
      '0202fffc0190',
  );
});

test('random reports do no harm', () => {
  const random = new Random(2);
  for (let round = 0; round < 5_000; round++) readSenderReports(random.bytes(random.below(80)));
});
