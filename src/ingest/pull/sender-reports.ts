interface TrackClock {
  /** NTP time of the last report by the RTP clock since the first one, in seconds since 1900. */
  seconds: number;
  /** RTP timestamp of the last report. */
  timestamp: number;
  /** Average lead of the reports over the RTP clock. */
  driftSeconds: number;
  /** Part of the drift that media at `timestamp` has followed. Later media follow more of it. */
  followedSeconds: number;
  /** Last RTP timestamp of media, and its correction: all packets of a frame get the same. */
  media: { readonly timestamp: number; readonly ticks: number } | undefined;
}

const VERSION = 2;
const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const minReportBytes = 28;
const minMediaBytes = 12;
/** Header of interleaved packets: marker, channel and length. */
const headerBytes = 4;
/** A report that deviates more corrects a clock, instead of being written late. */
const maxDeviationSeconds = 0.5;
/** Time over which reports are averaged: some are written late, and a clock drifts by milliseconds only in that time. */
const averagedSeconds = 60;
/** Drift that is followed in each second: 20 us in a frame of 40 ms. Clocks of cameras drift by a tenth of it. */
const maxFollowedSeconds = 0.0005;
/** Deviation between the tracks, at their first reports, that nobody notices while it is followed slowly. ITU-R BT.1359, 2. */
const maxUnnoticedSeconds = 0.045;
const maxSeconds = 2 ** 32 - 1;
/** RFC 3551, table 4, and for all video. */
const staticClockRates: Readonly<Record<string, number>> = { '0': 8000, '8': 8000 };
const usualClockRate = 90_000;

/**
 * Makes the sender reports of a source agree with its first ones, and moves the timestamps of its media instead, so slowly that
 * nobody notices. ffmpeg would move all times after a report by its deviation at once, but busy sources write their reports late,
 * and frames around one would change places with B-frames. RFC 3550, 6.4.1.
 */
export class SenderReports {
  #clockRates: readonly number[] = [];
  /** Track by which all others are moved, the first video. */
  #leadingTrack: number | undefined;
  readonly #clocks: (TrackClock | undefined)[] = [];
  /** RTP timestamps that ffmpeg counts from until the first reports. */
  readonly #starts: (number | undefined)[] = [];
  /** NTP time, in seconds, of the start of the track with the first report of all: ffmpeg counts the other tracks from it. */
  #startSeconds: number | undefined;

  /** RFC 4566, 5.14 and 6. ffmpeg has no tracks of other kinds. */
  describe(sdp: string): void {
    const tracks = sdp.split(/^(?=m=)/m).flatMap(section => {
      const [, kind, format] = /^m=(audio|video|application|text) \d+ \S+ (\d+)/.exec(section) ?? [];
      if (format === undefined) return [];
      const rate = new RegExp(`^a=rtpmap:${format} [^/\\s]+/(\\d+)`, 'm').exec(section)?.[1];
      return { kind, rate: Number(rate ?? staticClockRates[format] ?? usualClockRate) };
    });
    this.#clockRates = tracks.map(({ rate }) => rate);
    const video = tracks.findIndex(({ kind }) => kind === 'video');
    this.#leadingTrack = video === -1 ? undefined : video;
  }

  /** RFC 2326, 12.33: a source may tell in its response to PLAY where a track starts. */
  start(track: number, timestamp: number): void {
    this.#starts[track] = timestamp;
  }

  /** Writes into a packet. Channels are numbered as ffmpeg asks for them: two per track, the second for reports. */
  correct(packet: Buffer): void {
    const channel = packet[1]!;
    const track = channel >> 1;
    const rate = this.#clockRates[track] ?? usualClockRate;
    const content = packet.subarray(headerBytes);
    if (content[0] === undefined || content[0] >> 6 !== VERSION) return;
    if (channel % 2 === 0) this.#correctMedia(content, track, rate);
    else if (content[1] === SENDER_REPORT && content.length >= minReportBytes) {
      const former = this.#clocks[track];
      if (former === undefined && this.#mustWait(track)) content[1] = RECEIVER_REPORT;
      else
        this.#clocks[track] = correctReport(content, former ?? this.#firstClock(content, track, rate), rate);
    }
  }

  /** ffmpeg moves the other tracks to the one with the first report, and a step in video would lose frames. It ignores other reports. */
  #mustWait(track: number): boolean {
    const leading = this.#leadingTrack;
    return leading !== undefined && track !== leading && this.#clocks[leading] === undefined;
  }

  /** Returns a clock by which the first report of a track does not move what was sent of it. */
  #firstClock(report: Buffer, track: number, rate: number): TrackClock | undefined {
    const { timestamp, told } = readReport(report);
    const start = this.#starts[track];
    const elapsed = start === undefined ? 0 : secondsBetween(start, timestamp, rate);
    const isFirst = this.#startSeconds === undefined;
    this.#startSeconds ??= told - elapsed;
    if (isFirst || start === undefined) return undefined;
    const seconds = this.#startSeconds + elapsed;
    const deviation = told - seconds;
    if (Math.abs(deviation) > maxUnnoticedSeconds) return undefined;
    return { seconds, timestamp, driftSeconds: deviation, followedSeconds: 0, media: undefined };
  }

  #correctMedia(content: Buffer, track: number, rate: number): void {
    if (content.length < minMediaBytes) return;
    const timestamp = content.readUInt32BE(4);
    this.#starts[track] ??= timestamp;
    const clock = this.#clocks[track];
    if (clock === undefined) return;
    if (clock.media?.timestamp !== timestamp) {
      clock.media = { timestamp, ticks: Math.round(followedAt(clock, timestamp, rate) * rate) };
    }
    content.writeUInt32BE((timestamp + clock.media.ticks) >>> 0, 4);
  }
}

function readReport(report: Buffer): { timestamp: number; told: number } {
  const told = report.readUInt32BE(8) + report.readUInt32BE(12) / 2 ** 32;
  return { timestamp: report.readUInt32BE(16), told };
}

function correctReport(report: Buffer, former: TrackClock | undefined, rate: number): TrackClock {
  const { timestamp, told } = readReport(report);
  const clock = followed(former, told, timestamp, rate) ?? {
    seconds: Math.max(0, Math.min(told, maxSeconds)),
    timestamp,
    driftSeconds: 0,
    followedSeconds: 0,
    media: undefined,
  };
  report.writeUInt32BE(Math.floor(clock.seconds), 8);
  report.writeUInt32BE(Math.floor((clock.seconds % 1) * 2 ** 32), 12);
  return clock;
}

/** Returns the clock at a report of it. Undefined for a report that begins another one. */
function followed(
  former: TrackClock | undefined,
  told: number,
  timestamp: number,
  rate: number,
): TrackClock | undefined {
  if (former === undefined) return undefined;
  const elapsed = secondsBetween(former.timestamp, timestamp, rate);
  const seconds = Math.max(0, Math.min(former.seconds + elapsed, maxSeconds));
  const followedSeconds = followedAt(former, timestamp, rate);
  const deviation = told - seconds;
  if (Math.abs(deviation - followedSeconds) > maxDeviationSeconds) return undefined;
  const weight = Math.max(0, Math.min(elapsed / averagedSeconds, 1));
  const driftSeconds = former.driftSeconds + weight * (deviation - former.driftSeconds);
  return { seconds, timestamp, driftSeconds, followedSeconds, media: former.media };
}

/** Drift that media of a timestamp have followed, in seconds. */
function followedAt({ timestamp, driftSeconds, followedSeconds }: TrackClock, at: number, rate: number) {
  const missing = driftSeconds - followedSeconds;
  const possible = maxFollowedSeconds * Math.max(0, secondsBetween(timestamp, at, rate));
  return followedSeconds + Math.sign(missing) * Math.min(Math.abs(missing), possible);
}

/** Seconds from one RTP timestamp to another. A signed 32-bit difference is right across the wrap at 2^32. */
function secondsBetween(from: number, to: number, rate: number): number {
  return ((to - from) | 0) / rate;
}
