import type { PrivateAccess } from '../private-sessions.ts';
import type { ViewerRequest } from '../responses/exchange.ts';
import { TokenGate, type TokenGateOptions } from '../token-gate.ts';
import type { VodEntry, VodSource } from './vod-source.ts';

export interface AdmittedVideo {
  readonly entry: VodEntry;
  readonly access: PrivateAccess | undefined;
  readonly headers: readonly string[];
}

interface VodAdmissionRequest {
  readonly request: ViewerRequest;
  readonly videoId: string;
  readonly token: string | undefined;
  readonly query: URLSearchParams;
}

export class VodGate {
  readonly #source: VodSource;
  readonly #tokens: TokenGate;

  constructor(options: TokenGateOptions & { readonly source: VodSource }) {
    this.#source = options.source;
    this.#tokens = new TokenGate(options);
  }

  /** Tokens are for private videos only. @param mayClaimToken the request claims an unused token */
  async admit(
    asked: VodAdmissionRequest,
    mayClaimToken: (entry: VodEntry) => boolean,
  ): Promise<AdmittedVideo | undefined> {
    return this.#admitTo(await this.#source.find(asked.videoId), asked, mayClaimToken);
  }

  /** For pages, which carry the token in the query; a public video ignores it. */
  async admitToPage(
    request: ViewerRequest,
    videoId: string,
    query: URLSearchParams,
  ): Promise<AdmittedVideo | undefined> {
    const entry = await this.#source.find(videoId);
    const token = entry?.public === true ? undefined : (query.get('token') ?? undefined);
    return this.#admitTo(entry, { request, videoId, token, query }, () => true);
  }

  /** The video is private, and its viewer shows the session. */
  async isSession(videoId: string, access: PrivateAccess): Promise<boolean> {
    const entry = await this.#source.find(videoId);
    return entry !== undefined && !entry.public && this.#tokens.isSession(videoId, access);
  }

  async #admitTo(
    entry: VodEntry | undefined,
    { request, videoId, token, query }: VodAdmissionRequest,
    mayClaimToken: (entry: VodEntry) => boolean,
  ): Promise<AdmittedVideo | undefined> {
    if (entry === undefined) return undefined;
    if (entry.public) return token === undefined ? { entry, access: undefined, headers: [] } : undefined;
    if (token === undefined) return undefined;
    const holder = await this.#tokens.admit({
      ...{ request, resourceId: videoId, token, query },
      mayClaimToken: mayClaimToken(entry),
      cookiePath: `/vod/${videoId}`,
    });
    return holder && { entry, ...holder };
  }
}
