import { type PullArguments, pullArguments } from '../../ffmpeg/arguments/pull-arguments.ts';
import type { PipedProcess, ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { copyLimits } from '../../ffmpeg/process/process-limits.ts';
import { messageOf } from '../../shared/errors.ts';
import { EgressProxy } from './egress-proxy.ts';
import {
  PullError,
  type PullEvents,
  type PullInput,
  type TargetRules,
  unsupportedVideoText,
} from './pull-input.ts';
import { RtspRelay } from './rtsp-relay.ts';
import { StreamPacer } from './stream-pacer.ts';

export interface FfmpegSourceOptions {
  readonly path: string;
  /** Owner of the process. Its log must not be written: ffmpeg repeats addresses. */
  readonly owner: ProcessOwner;
  readonly liveStreamId: string;
}

/** Protocols without TLS, which the proxy does, and without those that would lead past it. */
const hlsProtocols = ['http', 'tcp', 'crypto'];
/** Formats of segments, so that no segment is read as a playlist. */
const segmentFormats = ['mpegts', 'mov', 'aac', 'mp3', 'ac3', 'eac3', 'webvtt'];
/**
 * Reloads of a playlist without a new segment. By default, ffmpeg 7.0 takes three for the end of the source,
 * although the first segment of a broadcast may take longer. A source that stays silent is ended by its session.
 */
const maxReloads = 1000;
/** A segment lasts one at most, and ffmpeg may ask for the playlist half of one too late. */
const reserveTargetDurations = 1.5;
/** Longer silence would end the session. */
const maxReserveMs = 8_000;
/** Codecs of SDP that ffmpeg puts into a transport stream as they are. */
const copiedAudio = ['MPEG4-GENERIC', 'MPA'];
/** G.711 needs no `rtpmap`. RFC 3551, table 4. */
const staticAudio: Readonly<Record<string, string>> = { '0': 'PCMU', '8': 'PCMA', '14': 'MPA' };

/** Video that needs no `rtpmap`. RFC 3551, table 5. */
const staticVideo: Readonly<Record<string, string>> = {
  '26': 'JPEG',
  '31': 'H261',
  '32': 'MPV',
  '34': 'H263',
};
const deliveredVideo = ['H264', 'H265', 'HEVC'];
const videoNames: Readonly<Record<string, string>> = {
  JPEG: 'MJPEG',
  MPV: 'MPEG-2',
  'MP4V-ES': 'MPEG-4 part 2',
};

const unusableSandbox =
  'The server could not open the network of the sandbox for this source. Ask its operator to see "Isolation" in docs/operating.md.';

/** RTP has no decode times. ffmpeg finds out those of B-frames only after some frames, and cannot send the ones before. */
const untimedStart = /first pts and dts value must be set/;

/** HLS: playlists, segments and keys may be anywhere, so that each request passes the proxy. */
export async function openHlsSource(
  url: URL,
  rules: TargetRules,
  events: PullEvents,
  options: FfmpegSourceOptions,
): Promise<PullInput> {
  const proxy = new EgressProxy(url, rules);
  if (!options.owner.limits.isIsolated) await proxy.start();
  const pacer = new StreamPacer({
    reserveMs: () => Math.min(1000 * reserveTargetDurations * proxy.targetDurationSeconds, maxReserveMs),
    output: bytes => events.bytes(bytes),
    pauseInput: () => child.output(1).pause(),
    resumeInput: () => child.output(1).resume(),
  });
  const child = start(options, proxy, bytes => pacer.push(bytes), {
    environment: { http_proxy: proxy.address },
    arguments: {
      input: [
        ...['-f', 'hls', '-seg_format_options', `format_whitelist=${segmentFormats.join(',')}`],
        ...['-max_reload', String(maxReloads)],
      ],
      url: proxy.firstAddress,
      protocols: hlsProtocols,
      isAudioConverted: false,
    },
  });
  const ended = child.exited.then(async () => {
    proxy.close();
    await pacer.end();
    return proxy.problem ?? 'The source has ended, or its playlist could not be read.';
  });
  return {
    ended,
    get remoteAddress() {
      return proxy.remoteAddress;
    },
    pause: () => pacer.pause(),
    resume: () => pacer.resume(),
    stop: async () => {
      pacer.stop();
      await child.kill();
      await ended;
    },
  };
}

export async function openRtspSource(
  url: URL,
  rules: TargetRules,
  events: PullEvents,
  options: FfmpegSourceOptions,
): Promise<PullInput> {
  let needsConversion = false;
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  let current: PipedProcess | undefined;
  let isStopped = false;
  const relay = new RtspRelay(url, rules, sdp => {
    const unsupported = unsupportedVideo(sdp);
    if (unsupported !== undefined) throw new PullError(unsupportedVideoText(unsupported));
    if (needsConversion || !hasOtherAudio(sdp)) return;
    // Ends this child before it sends anything; the next one converts.
    needsConversion = true;
    void current?.kill();
  });
  if (!options.owner.limits.isIsolated) await relay.start();
  const run = (isAudioConverted: boolean, isStartSkipped: boolean) => {
    const child = start(options, relay, bytes => events.bytes(bytes), {
      environment: {},
      arguments: {
        input: ['-rtsp_transport', 'tcp', '-f', 'rtsp'],
        url: relay.address,
        protocols: ['rtsp', 'rtp', 'tcp'],
        isAudioConverted,
        isStartSkipped,
      },
    });
    current = child;
    void child.exited.then(({ lastLines }) => {
      const skipsStart = isStartSkipped || lastLines.some(line => untimedStart.test(line));
      const isChanged = needsConversion !== isAudioConverted || skipsStart !== isStartSkipped;
      if (!isStopped && isChanged) {
        try {
          run(needsConversion, skipsStart);
          return;
        } catch (error) {
          relay.problem = `The source failed: ${messageOf(error)}`;
        }
      }
      relay.close();
      resolve(relay.problem ?? 'The source has ended.');
    });
  };
  run(false, false);
  return {
    ended,
    get remoteAddress() {
      return relay.remoteAddress;
    },
    pause: () => current?.output(1).pause(),
    resume: () => current?.output(1).resume(),
    stop: async () => {
      isStopped = true;
      await current?.kill();
      await ended;
    },
  };
}

function start(
  { path, owner, liveStreamId }: FfmpegSourceOptions,
  network: EgressProxy | RtspRelay,
  onBytes: (bytes: Buffer) => void,
  run: { readonly environment: Readonly<Record<string, string>>; readonly arguments: PullArguments },
): PipedProcess {
  let isReady = !owner.limits.isIsolated;
  let child: PipedProcess;
  try {
    child = owner.start(path, pullArguments(run.arguments), {
      outputs: 0,
      hasStdout: true,
      limits: copyLimits,
      environment: run.environment,
      ids: { purpose: 'pull', liveStreamId },
      onListener: listener => {
        isReady = true;
        network.adopt(listener);
      },
    });
  } catch (error) {
    network.close();
    throw error;
  }
  void child.exited.then(({ kind }) => {
    if (!isReady && kind === 'failed') network.problem ??= unusableSandbox;
  });
  child.output(1).on('data', onBytes);
  return child;
}

/** Names the codec of the first video, unless it can be delivered; undefined without video. RFC 4566, 5.14 and 6. */
export function unsupportedVideo(sdp: string): string | undefined {
  const [, format] = /^m=video \d+ \S+ (\d+)/m.exec(sdp) ?? [];
  if (format === undefined) return undefined;
  const named = new RegExp(`^a=rtpmap:${format} ([^/\\s]+)`, 'm').exec(sdp)?.[1] ?? staticVideo[format];
  const codec = named?.toUpperCase();
  if (codec === undefined || deliveredVideo.includes(codec)) return undefined;
  return videoNames[codec] ?? codec.replace(/[^\x20-\x7e]/g, '?').slice(0, 32);
}

/** The session description of a source announces audio that must be converted. RFC 4566, 5.14 and 6. */
export function hasOtherAudio(sdp: string): boolean {
  const [, format] = /^m=audio \d+ \S+ (\d+)/m.exec(sdp) ?? [];
  if (format === undefined) return false;
  const named = new RegExp(`^a=rtpmap:${format} ([^/\\s]+)`, 'm').exec(sdp)?.[1] ?? staticAudio[format] ?? '';
  return !copiedAudio.includes(named.toUpperCase());
}
