import { z } from 'zod';
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
} from '../../webrtc/signaling.ts';
import { LiveGate, type LiveGateOptions } from '../live/live-gate.ts';
import type { LiveSource } from '../live/live-source.ts';
import { PlaybackRefusal } from '../playback-gate.ts';

export interface ViewerClip {
  readonly videoId: string;
  /** Of the player page of the clip. */
  readonly url: string;
}

/** Creates a video from the seconds before a time. @throws AppError */
export type CreateViewerClip = (
  projectId: string,
  liveStreamId: string,
  part: { readonly lastMs: number; readonly untilMs: number },
) => Promise<ViewerClip>;

export interface ClipEndpointOptions extends LiveGateOptions {
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
const maxClipsPerStream = 60;
const streamWindowMs = 3_600_000;
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
  #running = 0;

  constructor(options: ClipEndpointOptions) {
    const { clock } = options;
    this.#options = options;
    this.#gate = new LiveGate(options);
    this.#perViewer = new FixedWindows({ windowMs: viewerWindowMs, maxKeys, clock });
    this.#perStream = new FixedWindows({ windowMs: streamWindowMs, maxKeys, clock });
  }

  hasPath(path: string): boolean {
    return isClipPath(path);
  }

  async handle(request: SignalingRequest): Promise<SignalingResponse> {
    const { method, path, query } = request;
    if (method === 'OPTIONS') return respond(204);
    if (method !== 'POST') throw new AppError('method-not-allowed');
    const [, liveStreamId = ''] = pathPattern.exec(path) ?? [];
    const projectId = await this.#admit(liveStreamId, request);
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
    const clip = await this.#limited(liveStreamId, request.remoteAddress, () =>
      this.#options.createClip(projectId, liveStreamId, part),
    );
    return respond(201, { 'Content-Type': contentType }, JSON.stringify(clip));
  }

  /** @returns the project of the live stream */
  async #admit(liveStreamId: string, { message, query }: SignalingRequest): Promise<string> {
    const stream =
      liveStreamId === '' ? undefined : await this.#gate.admitToPage(message, liveStreamId, query);
    if (stream instanceof PlaybackRefusal) throw detailed('playback-refused', stream.reason);
    if (stream === undefined) {
      const text =
        'There is no live stream with this id, or it is private and the token is missing or wrong.';
      throw detailed('resource-not-found', text);
    }
    if (!stream.viewerClips) throw detailed('viewer-clips-off', 'Viewers cannot clip this live stream.');
    if (!this.#options.live.state(liveStreamId).live) {
      throw detailed(
        'live-stream-not-broadcasting',
        'Nothing is being broadcast, so there is nothing to clip.',
      );
    }
    return stream.trafficOwner.projectId;
  }

  /** Counts attempts, unless there was nothing to clip yet. */
  async #limited<Answer>(
    liveStreamId: string,
    remoteAddress: string,
    create: () => Promise<Answer>,
  ): Promise<Answer> {
    const viewer = `${liveStreamId} ${clientNetwork(remoteAddress)}`;
    const ofViewer = this.#perViewer.get(viewer);
    const ofStream = this.#perStream.get(liveStreamId);
    if (ofViewer.count >= maxClipsPerViewer) {
      const seconds = this.#perViewer.secondsUntilEnd(ofViewer);
      throw detailed('too-many-requests', `You can create another clip in ${seconds} s.`, seconds);
    }
    if (ofStream.count >= maxClipsPerStream) {
      const seconds = this.#perStream.secondsUntilEnd(ofStream);
      const text =
        'Viewers have created as many clips of this live stream as an hour allows. Try again later.';
      throw detailed('too-many-requests', text, seconds);
    }
    if (this.#running >= maxConcurrentClips) {
      throw detailed('not-ready', 'Many clips are being created. Try again in a moment.', busyRetrySeconds);
    }
    this.#perViewer.add(viewer, ofViewer);
    this.#perStream.add(liveStreamId, ofStream);
    this.#running += 1;
    try {
      return await create();
    } catch (error) {
      if (error instanceof AppError && error.code === 'live-stream-not-broadcasting') {
        ofViewer.count -= 1;
        ofStream.count -= 1;
      }
      throw error;
    } finally {
      this.#running -= 1;
    }
  }
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
