import { challengeToken } from './complete-order.ts';

interface ChallengeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

interface ChallengeResponse {
  readonly destroyed: boolean;
  statusCode: number;
  setHeader(name: string, value: string | number): unknown;
  end(body: string): unknown;
}

const folder = '/.well-known/acme-challenge/';

/** Answers the HTTP-01 challenges of the certificate authority. **Source**: RFC 8555, 8.3 */
export class ChallengeAnswers {
  readonly #keyAuthorization: (token: string) => Promise<string | undefined>;

  constructor(keyAuthorization: (token: string) => Promise<string | undefined>) {
    this.#keyAuthorization = keyAuthorization;
  }

  /** Returns false for other requests. */
  handle({ method, url = '' }: ChallengeRequest, response: ChallengeResponse): boolean {
    if (!url.startsWith(folder) || (method !== 'GET' && method !== 'HEAD')) return false;
    const [token = ''] = url.slice(folder.length).split('?', 1);
    void this.#answer(token, response, method === 'HEAD');
    return true;
  }

  async #answer(token: string, response: ChallengeResponse, isHead: boolean): Promise<void> {
    const known = challengeToken.test(token) ? await this.#keyAuthorization(token) : undefined;
    if (response.destroyed) return;
    const body = known ?? 'This challenge is not known.';
    const headers = {
      'Content-Type': known === undefined ? 'text/plain; charset=utf-8' : 'application/octet-stream',
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    };
    response.statusCode = known === undefined ? 404 : 200;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end(isHead ? '' : body);
  }
}
