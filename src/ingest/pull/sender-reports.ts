interface ClockReference {
  /** NTP time since 1900. */
  readonly seconds: number;
  /** RTP timestamp of this moment. */
  readonly timestamp: number;
}

const VERSION = 2;
const SENDER_REPORT = 200;
const minReportBytes = 28;
/** Header of interleaved packets: marker, channel and length. */
const headerBytes = 4;
/** A report that deviates more corrects a clock, instead of being written late. */
const maxDeviationSeconds = 0.5;
const maxSeconds = 2 ** 32 - 1;
/** RFC 3551, table 4, and for all video. */
const staticClockRates: Readonly<Record<string, number>> = { '0': 8000, '8': 8000 };
const usualClockRate = 90_000;

/**
 * Makes the sender reports of a source agree with its first ones. ffmpeg moves all times after a report by its deviation, but
 * busy sources write their reports late, and frames around one would change places with B-frames. RFC 3550, 6.4.1.
 */
export class SenderReports {
  #clockRates: readonly number[] = [];
  readonly #references = new Map<number, ClockReference>();

  /** RFC 4566, 5.14 and 6. */
  describe(sdp: string): void {
    this.#clockRates = sdp.split(/^(?=m=)/m).flatMap(section => {
      const format = /^m=\w+ \d+ \S+ (\d+)/.exec(section)?.[1];
      if (format === undefined) return [];
      const rate = new RegExp(`^a=rtpmap:${format} [^/\\s]+/(\\d+)`, 'm').exec(section)?.[1];
      return [Number(rate ?? staticClockRates[format] ?? usualClockRate)];
    });
  }

  /** Writes into a packet that is a report. Channels are numbered as ffmpeg asks for them: two per track, the second for reports. */
  correct(packet: Buffer): void {
    const channel = packet[1]!;
    const report = packet.subarray(headerBytes);
    const isReport =
      channel % 2 === 1 &&
      report.length >= minReportBytes &&
      report[0]! >> 6 === VERSION &&
      report[1] === SENDER_REPORT;
    if (!isReport) return;
    const rate = this.#clockRates[(channel - 1) / 2] ?? usualClockRate;
    const timestamp = report.readUInt32BE(16);
    const told = report.readUInt32BE(8) + report.readUInt32BE(12) / 2 ** 32;
    const former = this.#references.get(channel);
    // A signed 32-bit difference is right across the wrap at 2^32.
    const expected =
      former === undefined ? told : former.seconds + ((timestamp - former.timestamp) | 0) / rate;
    const agreed = Math.abs(told - expected) <= maxDeviationSeconds ? expected : told;
    const seconds = Math.max(0, Math.min(agreed, maxSeconds));
    this.#references.set(channel, { seconds, timestamp });
    report.writeUInt32BE(Math.floor(seconds), 8);
    report.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 12);
  }
}
