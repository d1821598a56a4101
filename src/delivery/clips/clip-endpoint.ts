import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Clock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';
import { clientNetwork } from '../../shared/network/client-network.ts';
import {
  contentTypeError,
  detailed,
  respond,
  type SignalingEndpoint,
  type SignalingRequest,
  type SignalingResponse,
} from '../../shared/network/signaling.ts';
import type { ViewerLimits } from '../../shared/playback-policy.ts';
import { type AdmittedStream, LiveGate, type LiveGateOptions } from '../live/live-gate.ts';
import type { LiveSource } from '../live/live-source.ts';
import { PlaybackRefusal } from '../playback-gate.ts';
import { isSignedToken } from '../signed-tokens.ts';

interface ViewerClip {
  readonly videoId: string;
  /** URL of the player page of the clip. */
  readonly url: string;
}

/** Creates a video from the seconds before a time, which its viewers may watch as `limits` says. @throws AppError */
type CreateViewerClip = (
  projectId: string,
  liveStreamId: string,
  part: { readonly lastMs: number; readonly untilMs: number },
  limits: ViewerLimits | undefined,
) => Promise<ViewerClip>;

interface ClipEndpointOptions extends LiveGateOptions {
  readonly live: LiveSource;
  readonly createClip: CreateViewerClip;
  readonly clock: Clock;
}

const pathPattern = /^\/clips\/(li[0-9A-Za-z]{22})$/;
const pathPrefix = '/clips/';
const contentType = 'application/json';
const clipSchema = z.strictObject({
  lastSeconds: z.number().min(5).max(60),
  behindSeconds: z.number().min(0).max(86_400).default(0),
});
const wrongBody =
  'Send {"lastSeconds": 30}, from 5 to 60, and optionally how far the viewer is behind live: {"behindSeconds": 2.5}.';

const maxClipsPerViewer = 3;
const viewerWindowMs = 60_000;
/** A viewer gets moments of a broadcast, and not the broadcast. */
const maxSecondsPerViewer = 300;
const maxClipsPerStream = 60;
const hourMs = 3_600_000;
const maxKeys = 50_000;
const maxConcurrentClips = 4;
const busyRetrySeconds = 2;

export function isClipPath(path: string): boolean {
  return path.startsWith(pathPrefix);
}

/** Lets viewers turn the last seconds of a broadcast into a video, if the live stream allows it. */
export class ClipEndpoint implements SignalingEndpoint {
  readonly methods = 'POST, OPTIONS';
  readonly #options: ClipEndpointOptions;
  readonly #gate: LiveGate;
  readonly #perViewer: FixedWindows;
  readonly #perStream: FixedWindows;
  readonly #seconds: FixedWindows;
  #running = 0;

  constructor(options: ClipEndpointOptions) {
    const { clock } = options;
    this.#options = options;
    this.#gate = new LiveGate(options);
    this.#perViewer = new FixedWindows({ windowMs: viewerWindowMs, maxKeys, clock });
    this.#perStream = new FixedWindows({ windowMs: hourMs, maxKeys, clock });
    this.#seconds = new FixedWindows({ windowMs: hourMs, maxKeys, clock });
  }

  hasPath(path: string): boolean {
    return isClipPath(path);
  }

  async handle(request: SignalingRequest): Promise<SignalingResponse> {
    const { method, path, query } = request;
    if (method === 'OPTIONS') return respond(204);
    if (method !== 'POST') throw new AppError('method-not-allowed');
    const [, liveStreamId = ''] = pathPattern.exec(path) ?? [];
    const stream = await this.#admit(liveStreamId, request, 'check');
    const otherUrl = this.#options.live.current(liveStreamId)?.serverUrl;
    if (otherUrl !== undefined) {
      return respond(307, { Location: `${otherUrl}${path}${query === '' ? '' : `?${query}`}` });
    }
    if (request.contentType !== contentType) throw contentTypeError(contentType);
    const { lastSeconds, behindSeconds } = readBody(request.body);
    const part = {
      lastMs: Math.round(lastSeconds * 1000),
      untilMs: this.#options.clock.nowMs() - Math.round(behindSeconds * 1000),
    };
    const { projectId } = stream.trafficOwner;
    const viewers = [clientNetwork(request.remoteAddress), identityOf(stream)].filter(id => id !== undefined);
    const clip = await this.#limited({ liveStreamId, viewers, seconds: lastSeconds }, async () => {
      await this.#admit(liveStreamId, request, 'claim');
      return this.#options.createClip(projectId, liveStreamId, part, stream.limits);
    });
    return respond(201, { 'Content-Type': contentType }, JSON.stringify(clip));
  }

  async #admit(
    liveStreamId: string,
    { message, query }: SignalingRequest,
    step: 'check' | 'claim',
  ): Promise<AdmittedStream> {
    const stream =
      liveStreamId === '' ? undefined : await this.#gate.admitToPage(message, liveStreamId, query, step);
    if (stream instanceof PlaybackRefusal) throw detailed('playback-refused', stream.reason);
    if (stream === undefined) {
      const text =
        'There is no live stream with this id, or it is private and the token is missing or wrong.';
      throw detailed('resource-not-found', text);
    }
    if (!stream.viewerClips)
      throw detailed('viewer-clips-off', 'Viewer clips are turned off for this live stream.');
    if (!this.#options.live.state(liveStreamId).live) {
      throw detailed(
        'live-stream-not-broadcasting',
        'The live stream is offline, so there is nothing to clip.',
      );
    }
    return stream;
  }

  /**
   * Counts attempts, unless there was nothing to clip yet.
   * @param clip `viewers`: the network of the viewer, and the viewer as the token tells
   */
  async #limited<Answer>(
    clip: { readonly liveStreamId: string; readonly viewers: readonly string[]; readonly seconds: number },
    create: () => Promise<Answer>,
  ): Promise<Answer> {
    const { liveStreamId, seconds: clipSeconds } = clip;
    const ofStream = this.#perStream.get(liveStreamId);
    const counts = clip.viewers.map(viewer => {
      const key = `${liveStreamId} ${viewer}`;
      return { key, clips: this.#perViewer.get(key), seconds: this.#seconds.get(key) };
    });
    for (const { clips, seconds } of counts) {
      if (clips.count >= maxClipsPerViewer) {
        const wait = this.#perViewer.secondsUntilEnd(clips);
        throw detailed('too-many-requests', `You can create another clip in ${wait} s.`, wait);
      }
      if (seconds.count + clipSeconds > maxSecondsPerViewer) {
        const wait = this.#seconds.secondsUntilEnd(seconds);
        const left = Math.max(0, Math.floor(maxSecondsPerViewer - seconds.count));
        const text = `You can clip up to ${maxSecondsPerViewer} s of this live stream per hour, and ${left} s are left. Make a shorter clip, or wait ${wait} s.`;
        throw detailed('too-many-requests', text, wait);
      }
    }
    if (ofStream.count >= maxClipsPerStream) {
      const seconds = this.#perStream.secondsUntilEnd(ofStream);
      const text = 'This live stream has reached its hourly limit of viewer clips. Try again later.';
      throw detailed('too-many-requests', text, seconds);
    }
    if (this.#running >= maxConcurrentClips) {
      throw detailed(
        'not-ready',
        'Too many clips are being created. Try again in a moment.',
        busyRetrySeconds,
      );
    }
    for (const { key, clips, seconds } of counts) {
      this.#perViewer.add(key, clips);
      this.#seconds.add(key, seconds, clipSeconds);
    }
    this.#perStream.add(liveStreamId, ofStream);
    this.#running += 1;
    try {
      return await create();
    } catch (error) {
      if (error instanceof AppError && error.code === 'live-stream-not-broadcasting') {
        for (const { clips, seconds } of counts) {
          clips.count -= 1;
          seconds.count -= clipSeconds;
        }
        ofStream.count -= 1;
      }
      throw error;
    } finally {
      this.#running -= 1;
    }
  }
}

/** Undefined where viewers have no token. */
function identityOf({ viewer, access }: AdmittedStream): string | undefined {
  if (viewer !== undefined) return `viewer ${viewer}`;
  if (access === undefined) return undefined;
  // A viewer can write a signature in several ways.
  const text = isSignedToken(access.token) ? access.token.replace(/[^.]*$/, '') : access.token;
  return `token ${createHash('sha256').update(text).digest('base64')}`;
}

function readBody(text: string): z.output<typeof clipSchema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw detailed('invalid-viewer-clip', wrongBody);
  }
  const parsed = clipSchema.safeParse(json);
  if (!parsed.success) throw detailed('invalid-viewer-clip', wrongBody);
  return parsed.data;
}
