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
