import { type PullArguments, pullArguments } from '../../ffmpeg/arguments/pull-arguments.ts';
import type { PipedProcess, ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { copyLimits } from '../../ffmpeg/process/process-limits.ts';
import { EgressProxy } from './egress-proxy.ts';
import type { PullEvents, PullInput, TargetRules } from './pull-input.ts';
import { RtspRelay } from './rtsp-relay.ts';

export interface FfmpegSourceOptions {
  readonly path: string;
  /** Its log must not be written: ffmpeg repeats addresses. */
  readonly owner: ProcessOwner;
  readonly liveStreamId: string;
}

/** Without TLS, which the proxy does, and without those that would lead past it. */
const hlsProtocols = ['http', 'tcp', 'crypto'];
/** So that no segment is read as a playlist. */
const segmentFormats = ['mpegts', 'mov', 'aac', 'mp3', 'ac3', 'eac3', 'webvtt'];
/**
 * Of a playlist without a new segment. By default, ffmpeg 7.0 takes three for the end of the source, although the first
 * segment of a broadcast may take longer. A source that stays silent is ended by its session.
 */
const maxReloads = 1000;
/** Codecs of SDP that ffmpeg puts into a transport stream as they are. */
const copiedAudio = ['MPEG4-GENERIC', 'MPA'];
/** G.711 needs no `rtpmap`. RFC 3551, table 4. */
const staticAudio: Readonly<Record<string, string>> = { '0': 'PCMU', '8': 'PCMA', '14': 'MPA' };

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
  const proxyAddress = await proxy.start();
  const child = start(options, events, {
    environment: { http_proxy: proxyAddress },
    // Segments come at once. A broadcast needs them at their pace.
    arguments: {
      input: [
        ...['-re', '-f', 'hls', '-seg_format_options', `format_whitelist=${segmentFormats.join(',')}`],
        ...['-max_reload', String(maxReloads)],
      ],
      url: proxy.firstAddress,
      protocols: hlsProtocols,
      isAudioConverted: false,
    },
  });
  const ended = child.exited.then(() => {
    proxy.close();
    return proxy.problem ?? 'The source has ended, or its playlist could not be read.';
  });
  return inputOf(child, ended, () => proxy.remoteAddress);
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
    if (needsConversion || !hasOtherAudio(sdp)) return;
    // This child is ended before it sends anything, and the next one converts.
    needsConversion = true;
    void current?.kill();
  });
  const address = await relay.start();
  const run = (isAudioConverted: boolean, isStartSkipped: boolean) => {
    const child = start(options, events, {
      environment: {},
      arguments: {
        input: ['-rtsp_transport', 'tcp', '-f', 'rtsp'],
        ...{ url: address, protocols: ['rtsp', 'rtp', 'tcp'], isAudioConverted, isStartSkipped },
      },
    });
    current = child;
    void child.exited.then(({ lastLines }) => {
      const skipsStart = isStartSkipped || lastLines.some(line => untimedStart.test(line));
      const isChanged = needsConversion !== isAudioConverted || skipsStart !== isStartSkipped;
      if (!isStopped && isChanged) {
        run(needsConversion, skipsStart);
        return;
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
  events: PullEvents,
  run: { readonly environment: Readonly<Record<string, string>>; readonly arguments: PullArguments },
): PipedProcess {
  const child = owner.start(path, pullArguments(run.arguments), {
    ...{ outputs: 0, hasStdout: true, limits: copyLimits, environment: run.environment },
    ids: { purpose: 'pull', liveStreamId },
  });
  child.output(1).on('data', (bytes: Buffer) => events.bytes(bytes));
  return child;
}

function inputOf(child: PipedProcess, ended: Promise<string>, address: () => string): PullInput {
  return {
    ended,
    get remoteAddress() {
      return address();
    },
    pause: () => child.output(1).pause(),
    resume: () => child.output(1).resume(),
    stop: async () => {
      await child.kill();
      await ended;
    },
  };
}

/** The session description of a source announces audio that must be converted. RFC 4566, 5.14 and 6. */
export function hasOtherAudio(sdp: string): boolean {
  const [, format] = /^m=audio \d+ \S+ (\d+)/m.exec(sdp) ?? [];
  if (format === undefined) return false;
  const named = new RegExp(`^a=rtpmap:${format} ([^/\\s]+)`, 'm').exec(sdp)?.[1] ?? staticAudio[format] ?? '';
  return !copiedAudio.includes(named.toUpperCase());
}
