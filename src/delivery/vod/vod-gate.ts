import {
  type PlaybackAdmission,
  type PlaybackGate,
  PlaybackRefusal,
  type PlaybackResource,
} from '../playback-gate.ts';
import type { PrivateAccess } from '../private-sessions.ts';
import type { ViewerRequest } from '../responses/exchange.ts';
import { isLinkPreview } from '../token-gate.ts';
import type { VodEntry, VodSource } from './vod-source.ts';

export interface AdmittedVideo extends PlaybackAdmission {
  readonly entry: VodEntry;
}

interface VodAdmissionRequest {
  readonly request: ViewerRequest;
  readonly videoId: string;
  readonly token: string | undefined;
  readonly query: URLSearchParams;
  /** True for a page, a playlist or an MP4 file. */
  readonly beginsPlayback: boolean;
}

type VodAnswer = AdmittedVideo | PlaybackRefusal | undefined;

export class VodGate {
  readonly #source: VodSource;
  readonly #gate: PlaybackGate;

  constructor({ source, playback }: { readonly source: VodSource; readonly playback: PlaybackGate }) {
    this.#source = source;
    this.#gate = playback;
  }

  /** Tokens are for private videos only. @param mayClaimToken the request claims an unused token */
  async admit(
    requested: VodAdmissionRequest,
    mayClaimToken: (entry: VodEntry) => boolean,
  ): Promise<VodAnswer> {
    return this.#admitTo(await this.#source.find(requested.videoId), requested, mayClaimToken);
  }

  /** Admits requests for pages, which carry the token in the query; a public video ignores it. */
  async admitToPage(request: ViewerRequest, videoId: string, query: URLSearchParams): Promise<VodAnswer> {
    const entry = await this.#source.find(videoId);
    const token = entry?.public === true ? undefined : (query.get('token') ?? undefined);
    return this.#admitTo(
      entry,
      { request, videoId, token, query, beginsPlayback: true },
      () => !isLinkPreview(request),
    );
  }

  /** The video is private, and its viewer may have its media from a cache. */
  async admitToCache(
    request: ViewerRequest,
    videoId: string,
    access: PrivateAccess,
  ): Promise<PlaybackAdmission | PlaybackRefusal | undefined> {
    const entry = await this.#source.find(videoId);
    return entry && this.#gate.admitToCache(resourceOf(entry), access, request);
  }

  async #admitTo(
    entry: VodEntry | undefined,
    { videoId, ...requested }: VodAdmissionRequest,
    mayClaimToken: (entry: VodEntry) => boolean,
  ): Promise<VodAnswer> {
    if (entry === undefined) return undefined;
    const admission = await this.#gate.admit(resourceOf(entry), {
      ...requested,
      mayClaimToken: mayClaimToken(entry),
      cookiePath: `/vod/${videoId}`,
    });
    if (admission === undefined || admission instanceof PlaybackRefusal) return admission;
    return { entry, ...admission };
  }
}

function resourceOf({ videoId, public: isPublic, ...entry }: VodEntry): PlaybackResource {
  const { projectId, policy, limits, clippedFrom } = entry;
  return { id: videoId, projectId, public: isPublic, policy, limits, clippedFrom };
}
