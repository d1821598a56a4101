import { expect, test } from 'vitest';
import { SenderReports } from '../../../../src/ingest/pull/sender-reports.ts';

const sdp = 'm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\nm=audio 0 RTP/AVP 0\r\n';
const videoChannel = 1;
const audioChannel = 3;

function reportOf(channel: number, seconds: number, timestamp: number): Buffer {
  const packet = Buffer.alloc(32);
  packet.set([0x24, channel, 0, 28, 0x80, 200, 0, 6]);
  packet.writeUInt32BE(Math.floor(seconds), 12);
  packet.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 16);
  packet.writeUInt32BE(timestamp, 20);
  return packet;
}

function corrected(reports: SenderReports, packet: Buffer): number {
  reports.correct(packet);
  return packet.readUInt32BE(12) + packet.readUInt32BE(16) / 2 ** 32;
}

test('reports agree with the first one of their track, by its clock rate', () => {
  const reports = new SenderReports();
  reports.describe(sdp);
  expect(corrected(reports, reportOf(videoChannel, 1000, 90_000))).toBeCloseTo(1000, 6);
  expect(corrected(reports, reportOf(audioChannel, 1000.1, 8000))).toBeCloseTo(1000.1, 6);
  expect(corrected(reports, reportOf(videoChannel, 1005.2, 6 * 90_000))).toBeCloseTo(1005, 6);
  expect(corrected(reports, reportOf(audioChannel, 1005, 6 * 8000))).toBeCloseTo(1005.1, 6);
  expect(corrected(reports, reportOf(videoChannel, 1009.9, 11 * 90_000))).toBeCloseTo(1010, 6);
});

test('reports that deviate by more correct the clock', () => {
  const reports = new SenderReports();
  reports.describe(sdp);
  corrected(reports, reportOf(videoChannel, 1000, 0));
  expect(corrected(reports, reportOf(videoChannel, 1006, 5 * 90_000))).toBeCloseTo(1006, 6);
  expect(corrected(reports, reportOf(videoChannel, 1011.1, 10 * 90_000))).toBeCloseTo(1011, 6);
});

test('timestamps wrap', () => {
  const reports = new SenderReports();
  reports.describe(sdp);
  corrected(reports, reportOf(videoChannel, 1000, 2 ** 32 - 45_000));
  expect(corrected(reports, reportOf(videoChannel, 1001.1, 45_000))).toBeCloseTo(1001, 6);
});

test('other packets stay as they are', () => {
  const reports = new SenderReports();
  reports.describe(sdp);
  corrected(reports, reportOf(videoChannel, 1000, 0));
  const media = reportOf(videoChannel - 1, 1000.2, 90_000);
  const short = reportOf(videoChannel, 1000.2, 90_000).subarray(0, 20);
  for (const packet of [media, short]) {
    const before = Buffer.from(packet);
    reports.correct(packet);
    expect(packet.equals(before)).toBe(true);
  }
});

test('times before 1900 and clock rates of other tracks do no harm', () => {
  const reports = new SenderReports();
  reports.describe(
    'm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\nm=audio 0 RTP/AVP 96\r\na=rtpmap:96 opus/48000\r\n',
  );
  corrected(reports, reportOf(audioChannel, 0.1, 48_000));
  expect(corrected(reports, reportOf(audioChannel, 0.1, 28_800))).toBe(0);
  expect(corrected(reports, reportOf(audioChannel, 1.1, 76_800))).toBeCloseTo(1, 2);
});
