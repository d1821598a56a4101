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

/** Simulates a track of 25 frames and a report each 5 seconds, and how ffmpeg times its frames. Returns errors of the times. */
function follow({
  hours,
  driftPpm,
  error,
}: {
  hours: number;
  driftPpm: number;
  error: (report: number) => number;
}) {
  const reports = new SenderReports();
  reports.describe(sdp);
  let reference = { seconds: 0, timestamp: 0 };
  let maxStepMs = 0;
  let lastMs = 0;
  let leadMs = 0;
  for (let frame = 0; frame < hours * 3600 * 25; frame += 1) {
    const media = frame / 25;
    const timestamp = (frame * 3600 - 3600 * 90_000) >>> 0;
    // By the clock of the camera, its media are as much too slow.
    const real = media * (1 + driftPpm / 1e6);
    if (frame % 125 === 0) {
      const report = reportOf(videoChannel, 1000 + real + error(frame / 125), timestamp);
      reference = { seconds: corrected(reports, report), timestamp };
    }
    const packets = [0, 1].map(() => mediaOf(timestamp));
    for (const packet of packets) reports.correct(packet);
    if (!packets[0]!.equals(packets[1]!)) throw new Error(`the packets of frame ${frame} have two times`);
    const elapsed = ((packets[0]!.readUInt32BE(8) - reference.timestamp) | 0) / 90_000;
    const ms = 1000 * (reference.seconds - 1000 + elapsed);
    if (frame > 0) maxStepMs = Math.max(maxStepMs, Math.abs(ms - lastMs - 40));
    lastMs = ms;
    leadMs = ms - 1000 * real;
  }
  return { maxStepMs, leadMs };
}

function mediaOf(timestamp: number, channel = videoChannel - 1): Buffer {
  const packet = Buffer.alloc(20);
  packet.set([0x24, channel, 0, 16, 0x80, 96]);
  packet.writeUInt32BE(timestamp, 8);
  return packet;
}

test.each([50, -50, 400])('a clock that drifts by %s ppm is followed for hours, without steps', driftPpm => {
  const { maxStepMs, leadMs } = follow({ hours: 4, driftPpm, error: () => 0 });
  expect(Math.abs(leadMs)).toBeLessThan(30);
  expect(maxStepMs).toBeLessThan(0.05);
});

/** Simulates how ffmpeg times media: from their start, and from the first report of all after the report of their track. */
class FfmpegTimes {
  readonly #reports = new SenderReports();
  readonly #rates = [90_000, 8000];
  readonly #starts: (number | undefined)[] = [];
  readonly #references: ({ seconds: number; timestamp: number } | undefined)[] = [];
  #origin: number | undefined;

  constructor() {
    this.#reports.describe(sdp);
  }

  start(track: number, timestamp: number): void {
    this.#reports.start(track, timestamp);
    this.#starts[track] = timestamp;
  }

  report(track: number, seconds: number, timestamp: number): void {
    const packet = reportOf(2 * track + 1, seconds, timestamp);
    const told = corrected(this.#reports, packet);
    if (packet[5] !== 200) return;
    this.#starts[track] ??= timestamp;
    this.#origin ??= told - this.#elapsed(track, this.#starts[track], timestamp);
    this.#references[track] = { seconds: told, timestamp };
  }

  media(track: number, timestamp: number): number {
    const packet = mediaOf(timestamp, 2 * track);
    this.#reports.correct(packet);
    const passed = packet.readUInt32BE(8);
    this.#starts[track] ??= passed;
    const reference = this.#references[track];
    if (reference === undefined) return this.#elapsed(track, this.#starts[track], passed);
    return reference.seconds - this.#origin! + this.#elapsed(track, reference.timestamp, passed);
  }

  #elapsed(track: number, from: number, to: number): number {
    return ((to - from) | 0) / this.#rates[track]!;
  }
}

const video = 0;
const audio = 1;

test.each([
  ['video', 25, 50],
  ['audio', 50, 25],
])('the first reports do not move video, and audio slowly: %s first', (_, videoDelay, audioDelay) => {
  const times = new FfmpegTimes();
  const at = (rate: number, seconds: number) => (4_294_000_000 + Math.round(seconds * rate)) >>> 0;
  let last = 0;
  for (let frame = 0; frame < 25 * 60; frame += 1) {
    const seconds = frame / 25;
    if (frame % 125 === videoDelay) times.report(video, 1000 + seconds, at(90_000, seconds));
    // The first audio was 16 ms later than the first video.
    if (frame % 125 === audioDelay) times.report(audio, 1000.016 + seconds, at(8000, seconds));
    expect(times.media(video, at(90_000, seconds))).toBeCloseTo(seconds, 4);
    const moved = times.media(audio, at(8000, seconds)) - seconds;
    expect(Math.abs(moved - last)).toBeLessThan(0.0003);
    last = moved;
  }
  expect(last).toBeCloseTo(0.016, 3);
});

test('the first reports never move video, whatever they tell', () => {
  const times = new FfmpegTimes();
  for (const track of [video, audio]) times.media(track, 8000);
  times.report(audio, 1000.3, 8000);
  expect(times.media(audio, 16_000)).toBeCloseTo(1, 3);
  times.report(video, 1000, 8000);
  expect(times.media(video, 98_000)).toBeCloseTo(1, 3);
  times.report(audio, 1001.3, 16_000);
  expect(times.media(audio, 24_000)).toBeCloseTo(2.3, 3);
});

test('the first report of audio moves it at once where anybody would notice that it does not fit the video', () => {
  const times = new FfmpegTimes();
  for (const track of [video, audio]) times.media(track, 8000);
  times.report(video, 1000, 8000);
  times.report(audio, 1000.3, 8000);
  expect(times.media(audio, 16_000)).toBeCloseTo(1.3, 3);
});

test('media are counted from the starts that the source tells', () => {
  const times = new FfmpegTimes();
  times.start(video, 90_000);
  times.start(audio, 8000);
  times.media(video, 180_000);
  times.media(audio, 17_600);
  times.report(video, 1001, 180_000);
  times.report(audio, 1001.21, 17_600);
  expect(times.media(video, 270_000)).toBeCloseTo(2, 3);
  expect(times.media(audio, 25_600)).toBeCloseTo(2.2, 3);
});

test('reports that are written late by turns do not move the media', () => {
  const { maxStepMs, leadMs } = follow({ hours: 1, driftPpm: 0, error: report => 0.04 * (-1) ** report });
  expect(maxStepMs).toBeLessThan(0.05);
  expect(Math.abs(leadMs)).toBeLessThan(45);
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
  corrected(reports, reportOf(videoChannel, 0.1, 90_000));
  corrected(reports, reportOf(audioChannel, 0.1, 48_000));
  expect(corrected(reports, reportOf(audioChannel, 0.1, 28_800))).toBe(0);
  expect(corrected(reports, reportOf(audioChannel, 1.1, 76_800))).toBeCloseTo(1, 2);
});
