import { createHash } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import { AppError, type ErrorCode, errorRegister, type Problem } from '../../../shared/errors.ts';
import { boundedFetch } from '../../../shared/network/bounded-fetch.ts';
import {
  contentTypeError,
  detailed,
  respond,
  type SignalingEndpoint,
  type SignalingRequest,
  type SignalingResponse,
} from '../../../shared/network/signaling.ts';
import type { Connection } from '../../../store/connection.ts';
import { openServerSecret } from '../../../store/server-secret.ts';
import { PrivateTokens } from '../../playback/private-sessions/private-tokens.store.ts';
import type { VideoAttributes } from '../videos/video.ts';
import type { VideosService } from '../videos/videos.service.ts';

interface ForwardedClip {
  readonly projectId: string;
  readonly attributes: VideoAttributes;
}

const pathPattern = /^\/clips\/(li[0-9A-Za-z]{22})\/video$/;
const contentType = 'application/json';
const secretName = 'forwarded-clips';
/** The clocks of servers may differ. */
const maxTokenAgeMs = 120_000;
/** The time in a token is that of its second. */
const mintedToMs = 1_000;
/** A few minutes of more clips than a server can make. */
const maxUsedTokens = 20_000;
/** An hour of a broadcast is copied first. */
const maxAnswerMs = 150_000;
const maxBodyBytes = 1024 * 1024;
const retryAfterSeconds = 2;

/** Signs what the servers of a database ask each other. */
export function openForwardedClips(database: Connection, clock: Clock): Promise<PrivateTokens> {
  return openServerSecret(secretName, database).then(secret => new PrivateTokens(secret, clock));
}

/** Asks the server that packages a broadcast to create a video of a part of it. @throws AppError that it answered with */
export async function forwardClip(
  tokens: PrivateTokens,
  to: { readonly serverUrl: string; readonly liveStreamId: string },
  clip: ForwardedClip,
): Promise<string> {
  const path = `/clips/${to.liveStreamId}/video`;
  const body = JSON.stringify(clip);
  const answer = await send(`${to.serverUrl}${path}`, body, tokens.mint(signedText(path, body)));
  if (answer.status !== 201) throw errorFrom(answer.json);
  return (answer.json as { readonly videoId: string }).videoId;
}

async function send(url: string, body: string, token: string) {
  try {
    const response = await boundedFetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      headers: { 'content-type': contentType, authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(maxAnswerMs),
    });
    return { status: response.status, json: (await response.json()) as unknown };
  } catch (cause) {
    const detail = 'The server that receives this broadcast could not be reached. Try again in a moment.';
    throw new AppError('not-ready', `${url} could not be reached. Check MILLRACE_NODE_URL of that server.`, {
      cause,
      details: { detail, retryAfterSeconds },
    });
  }
}

/** Creates videos from broadcasts of this server, for the other servers of its database. */
export class ForwardedClips implements SignalingEndpoint {
  readonly methods = 'POST';
  readonly maxBodyBytes = maxBodyBytes;
  readonly #tokens: PrivateTokens;
  readonly #videos: Pick<VideosService, 'createHere'>;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  /** Used tokens with the time at which they expire, the first to do so first. */
  readonly #usedTokens = new Map<string, number>();

  constructor(tokens: PrivateTokens, videos: Pick<VideosService, 'createHere'>, clock: Clock) {
    this.#tokens = tokens;
    this.#videos = videos;
    this.#clock = clock;
    this.#startedAtMs = clock.nowMs();
  }

  hasPath(path: string): boolean {
    return pathPattern.test(path);
  }

  async handle({ method, path, ...request }: SignalingRequest): Promise<SignalingResponse> {
    if (method !== 'POST') throw new AppError('method-not-allowed');
    const [, liveStreamId = ''] = pathPattern.exec(path) ?? [];
    const token = /^Bearer (\S+)$/.exec(request.authorization ?? '')?.[1] ?? '';
    if (!this.#useToken(token, signedText(path, request.body))) {
      throw detailed(
        'resource-not-found',
        'Only servers that share this database can use this endpoint, and each request works once.',
      );
    }
    if (request.contentType !== contentType) throw contentTypeError(contentType);
    const { projectId, attributes } = JSON.parse(request.body) as ForwardedClip;
    const { videoId } = await this.#videos.createHere(projectId, liveStreamId, attributes);
    return respond(201, { 'Content-Type': contentType }, JSON.stringify({ videoId }));
  }

  /** Returns false for a token that is wrong, expired or used, which those from before the start may be. */
  #useToken(token: string, text: string): boolean {
    const nowMs = this.#clock.nowMs();
    const mintedAtMs = this.#tokens.mintedAtMs(token, text);
    if (mintedAtMs === undefined || Math.abs(nowMs - mintedAtMs) > maxTokenAgeMs) return false;
    if (mintedAtMs + mintedToMs <= this.#startedAtMs || this.#usedTokens.has(token)) return false;
    for (const [used, expiresAtMs] of this.#usedTokens) {
      if (expiresAtMs > nowMs) break;
      this.#usedTokens.delete(used);
    }
    if (this.#usedTokens.size >= maxUsedTokens) {
      throw detailed('not-ready', 'Too many clips were requested. Try again in a moment.', retryAfterSeconds);
    }
    // Keeps the token longer: its time of minting may be ahead of our clock.
    this.#usedTokens.set(token, nowMs + 2 * maxTokenAgeMs);
    return true;
  }
}

function signedText(path: string, body: string): string {
  return createHash('sha256').update(`${path}\n${body}`).digest('hex');
}

/** Reads the error of an answer in the form of {@link toErrorBody}. */
function errorFrom(body: unknown): AppError {
  const {
    type,
    status: _,
    problems,
    ...details
  } = body as {
    readonly type?: string;
    readonly status?: number;
    readonly title?: string;
    readonly detail?: string;
    readonly name?: string;
    readonly problems?: readonly (Omit<Problem, 'type'> & { readonly type?: string })[];
  };
  const code = codeOf(type) ?? 'not-ready';
  const own = problems?.map(({ type: ofProblem, ...problem }) => {
    const known = codeOf(ofProblem);
    return known === undefined ? problem : { ...problem, type: known };
  });
  return new AppError(code, details.detail ?? details.title, {
    details: own === undefined ? details : { ...details, problems: own },
  });
}

function codeOf(type: string | undefined): ErrorCode | undefined {
  const name = type?.split('/').at(-1);
  return name !== undefined && Object.hasOwn(errorRegister, name) ? (name as ErrorCode) : undefined;
}
