import { LRUCache } from 'lru-cache';
import { AppError, type ErrorCode } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import {
  addressOf,
  contentTypeError,
  detailed,
  respond,
  SDP,
  type SignalingRequest,
  type SignalingResponse,
} from '../../shared/network/signaling.ts';
import { IceUpdates } from '../../webrtc/ice-updates.ts';
import { offerProblem } from '../../webrtc/sdp/offer-problem.ts';
import { parseSessionDescription } from '../../webrtc/sdp/session-description.ts';
import type { UnconnectedOffers } from '../../webrtc/unconnected-offers.ts';
import type { WebRtcServer } from '../../webrtc/webrtc-server.ts';
import type { IngestObserver } from '../ingest-observer.ts';
import type { PublisherCloseReason, PublishGate } from '../publish-gate.ts';
import { acceptOffer, needsEncoding } from './accept-offer.ts';
import { encoderName } from './encoder-name.ts';
import { WhipSession } from './whip-session.ts';

interface WhipEndpointOptions {
  readonly webRtc: WebRtcServer;
  readonly gate: PublishGate;
  readonly observer: IngestObserver;
  readonly unconnected: UnconnectedOffers;
  /** Prefix of the paths of sessions; `''` where all requests reach this server. */
  readonly sessionBase: string;
  /** Encodes video that players cannot play. */
  readonly canEncode: boolean;
  readonly log: Logger;
}

interface PublishedSession {
  readonly session: WhipSession;
  readonly ice: IceUpdates;
}

interface EndedSession {
  readonly reason: PublisherCloseReason;
  readonly description: string;
}

const whipPaths = { endpoint: '/whip', sessions: '/whip/sessions/' } as const;
export function isWhipPath(path: string): boolean {
  return path === whipPaths.endpoint || path.startsWith(`${whipPaths.endpoint}/`);
}

const streamKeyPattern = /^[\x21-\x2e\x30-\x7e]{1,256}$/;
const maxEndedKept = 1_000;

/** Reasons of the publish gate that are no general refusal. */
const codeOfReason: Readonly<Record<string, ErrorCode>> = {
  'unknown-key': 'stream-key-unknown',
  'account-suspended': 'authorization-suspended-account',
  'account-not-upgraded': 'authorization-account-not-upgraded',
  'already-publishing': 'already-publishing',
  'broadcast-ended': 'session-ended',
  'too-many-attempts': 'too-many-requests',
  'hook-refused': 'hook-refused',
  draining: 'server-draining',
};

/** Publishing over HTTP and WebRTC. RFC 9725. */
export class WhipEndpoint implements Component {
  readonly name = 'whip';
  readonly #options: WhipEndpointOptions;
  readonly #sessions = new Map<string, PublishedSession>();
  /** Why sessions have ended, for publishers that ask. */
  readonly #ended = new LRUCache<string, EndedSession>({ max: maxEndedKept });
  #isDraining = false;

  constructor(options: WhipEndpointOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async drain(): Promise<void> {
    this.#isDraining = true;
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    for (const { session } of this.#sessions.values())
      session.end('server-stopped', 'The server is stopping.');
  }

  readonly methods = 'POST, PATCH, DELETE, OPTIONS';

  hasPath(path: string): boolean {
    return isWhipPath(path);
  }

  /** @throws AppError */
  async handle(request: SignalingRequest): Promise<SignalingResponse> {
    const { method, path } = request;
    if (method === 'OPTIONS') return respond(204, { 'Accept-Post': SDP });
    if (!path.startsWith(whipPaths.sessions)) {
      if (method !== 'POST') throw new AppError('method-not-allowed');
      return this.#publish(request);
    }
    const id = path.slice(whipPaths.sessions.length);
    const published = this.#sessions.get(id);
    if (published === undefined) throw this.#endOf(id, 'This session does not exist.');
    if (method === 'DELETE') {
      published.session.end('unpublished', 'The publisher has ended this session.');
      return respond(200);
    }
    if (method === 'PATCH') {
      return published.ice.patch(published.session.webRtc, this.#options.webRtc, request);
    }
    throw new AppError('method-not-allowed');
  }

  /** A publisher that was lost may come back, one that the server has ended should not. */
  #endOf(id: string, unknownText: string): AppError {
    const ended = this.#ended.get(id);
    if (ended?.reason === 'ended-by-server') return detailed('session-ended', ended.description);
    return notFound(ended?.description ?? unknownText);
  }

  async #publish(request: SignalingRequest): Promise<SignalingResponse> {
    const streamKey = streamKeyOf(request);
    if (this.#isDraining) {
      throw new AppError('server-draining', undefined, {
        details: { detail: 'The server is restarting. Connect again in a moment.', retryAfterSeconds: 2 },
      });
    }
    if (request.contentType !== SDP) throw contentTypeError(SDP);
    const offer = parseSessionDescription(request.body);
    if (typeof offer === 'string') throw detailed('offer-invalid', offer);
    const accepted = acceptOffer(offer, { canEncode: this.#options.canEncode });
    if (typeof accepted === 'string') throw detailed('offer-unsupported', accepted);
    const problem = offerProblem(
      offer,
      accepted.map(({ media }) => media),
    );
    if (problem !== undefined) throw detailed('offer-invalid', problem);
    const settled = this.#options.unconnected.open(request.remoteAddress);
    const id = newId('wh');
    const session = new WhipSession({
      streamKey,
      query: request.query,
      encoder: encoderName(request.userAgent),
      needsEncoding: accepted.some(({ codec }) => needsEncoding(codec)),
      remoteAddress: request.remoteAddress,
      gate: this.#options.gate,
      observer: this.#options.observer,
      log: this.#options.log,
      connected: settled,
      ended: (reason, description) => {
        settled();
        if (this.#sessions.delete(id)) this.#ended.set(id, { reason, description });
      },
    });
    const ice = new IceUpdates();
    this.#sessions.set(id, { session, ice });
    try {
      await this.#admit(session, request.signal);
      const opened = await this.#options.webRtc.open({
        offer,
        accepted,
        events: session.events,
        address: addressOf(request),
      });
      session.connect(opened.session);
      if (session.isClosed) throw this.#endOf(id, 'The broadcast has ended.');
      const location = `${this.#options.sessionBase}${whipPaths.sessions}${id}`;
      return respond(201, { 'Content-Type': SDP, Location: location, ...ice.headers }, opened.answer);
    } catch (error) {
      session.end('ended-by-server', 'The WebRTC session could not be opened. Try again in a moment.');
      throw error;
    }
  }

  async #admit(session: WhipSession, signal: AbortSignal): Promise<void> {
    const canceled = () => session.end('connection-closed', 'The publisher has canceled its request.');
    signal.addEventListener('abort', canceled, { once: true });
    const refusal = await session.publication.open();
    signal.removeEventListener('abort', canceled);
    if (refusal === undefined) return;
    throw detailed(codeOfReason[refusal.reason] ?? 'not-ready', refusal.description);
  }
}

/** Reads the stream key in the path, or else in the bearer token. */
function streamKeyOf({ path, authorization = '' }: SignalingRequest): string {
  const inPath = path.slice(whipPaths.endpoint.length).replace(/^\/|\/$/g, '');
  const key = inPath === '' ? (/^Bearer +(\S+)\s*$/i.exec(authorization)?.[1] ?? '') : decoded(inPath);
  if (key === '') {
    throw detailed(
      'stream-key-missing',
      'Send the stream key as a bearer token, or append it to /whip/ in the URL.',
    );
  }
  if (!streamKeyPattern.test(key)) {
    const text = 'The stream key is not valid. Copy it again, whole and without spaces.';
    throw detailed('stream-key-unknown', text);
  }
  return key;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function notFound(detail: string): AppError {
  return detailed('resource-not-found', detail);
}
