import type { PrivateAccess } from '../private-sessions.ts';
import type { ViewerRequest } from '../responses/exchange.ts';
import { TokenGate, type TokenGateOptions } from '../token-gate.ts';
import type { VodEntry, VodSource } from './vod-source.ts';

/** A video that a viewer may see. */
export interface AdmittedVideo {
  readonly entry: VodEntry;
  /** Undefined for a public video. */
  readonly access: PrivateAccess | undefined;
  /** Headers that the answer carries: names and values in turn. */
  readonly headers: readonly string[];
}

/** What is asked for. */
export interface VodAdmissionRequest {
  readonly request: ViewerRequest;
  readonly videoId: string;
  /** The private token of the address. */
  readonly token: string | undefined;
  readonly query: URLSearchParams;
}

/** Decides who may see a video: everybody a public one, and a private one whoever has its token's session. */
export class VodGate {
  readonly #source: VodSource;
  readonly #tokens: TokenGate;

  constructor(options: TokenGateOptions & { readonly source: VodSource }) {
    this.#source = options.source;
    this.#tokens = new TokenGate(options);
  }

  /**
   * The video, if this viewer may see it. A token is not needed for a public video, and useless.
   *
   * @param mayClaimToken says of a video whether this request uses a token up that nobody has used yet
   */
  admit(
    { request, videoId, token, query }: VodAdmissionRequest,
    mayClaimToken: (entry: VodEntry) => boolean,
  ): AdmittedVideo | undefined {
    const entry = this.#source.find(videoId);
    if (entry === undefined) return undefined;
    if (entry.public) return token === undefined ? { entry, access: undefined, headers: [] } : undefined;
    if (token === undefined) return undefined;
    const holder = this.#tokens.admit({
      ...{ request, resourceId: videoId, token, query },
      mayClaimToken: mayClaimToken(entry),
      cookiePath: `/vod/${videoId}`,
    });
    return holder && { entry, ...holder };
  }
}
