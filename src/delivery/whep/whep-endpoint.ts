import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { ConnectionLimiter, type ConnectionLimiterOptions } from '../../shared/network/connection-limiter.ts';
import {
  addressOf,
  contentTypeError,
  detailed,
  respond,
  SDP,
  type SignalingEndpoint,
  type SignalingRequest,
  type SignalingResponse,
} from '../../shared/network/signaling.ts';
import { offerProblem } from '../../webrtc/sdp/offer-problem.ts';
import { parseSessionDescription, type SessionDescription } from '../../webrtc/sdp/session-description.ts';
import type { AcceptedMedia } from '../../webrtc/sdp/write-answer.ts';
import type { UnconnectedOffers } from '../../webrtc/unconnected-offers.ts';
import type { WebRtcServer } from '../../webrtc/webrtc-server.ts';
import type { DeliveryObserver, TrafficOwner } from '../delivery-observer.ts';
import { addressPlaylist } from '../live/address-playlist.ts';
import { type AdmittedStream, LiveGate, type LiveGateOptions } from '../live/live-gate.ts';
import type { LiveSource } from '../live/live-source.ts';
import type { ViewerCount } from '../live/viewer-count.ts';
import { PlaybackRefusal } from '../playback-gate.ts';
import { acceptWhepOffer } from './accept-whep-offer.ts';
import { WhepSession } from './whep-session.ts';
import type { WhepBroadcast, WhepSource } from './whep-source.ts';

interface WhepEndpointOptions extends LiveGateOptions {
  /** Undefined on a server that packages no broadcasts. */
  readonly webRtc: WebRtcServer | undefined;
  readonly source: WhepSource;
  readonly live: LiveSource;
  readonly viewers: ViewerCount;
  readonly observer: DeliveryObserver;
  readonly maxViewers: number;
  readonly perAddress: ConnectionLimiterOptions;
  readonly unconnected: UnconnectedOffers;
  /** Prefix of the paths of sessions; `''` where all requests reach this server. */
  readonly sessionBase: string;
  readonly log: Logger;
}

interface Viewer {
  readonly request: SignalingRequest;
  readonly liveStreamId: string;
  readonly broadcast: WhepBroadcast;
  /** With the session of a private token, once it is claimed. */
  stream: AdmittedStream;
}

/** The place of one viewer among those that are allowed. Tell it what becomes of the viewer. */
interface ViewerPlace {
  connected(): void;
  left(): void;
}

const endpointPath = '/whep/';
const sessionsPath = '/whep/sessions/';
const liveStreamIdPattern = /^li[0-9A-Za-z]{22}$/;
const retryAfterSeconds = 2;

export function isWhepPath(path: string): boolean {
  return path.startsWith(endpointPath);
}

/** Watching over HTTP and WebRTC. draft-ietf-wish-whep-03. */
export class WhepEndpoint implements SignalingEndpoint, Component {
  readonly name = 'whep';
  readonly methods = 'POST, PATCH, DELETE, OPTIONS';
  readonly #options: WhepEndpointOptions;
  readonly #gate: LiveGate;
  readonly #limiter: ConnectionLimiter;
  readonly #log: Logger;
  readonly #sessions = new Map<string, WhepSession>();
  /** Viewers, including those that are being opened. */
  #viewers = 0;
  #isDraining = false;

  constructor(options: WhepEndpointOptions) {
    this.#options = options;
    this.#gate = new LiveGate(options);
    this.#limiter = new ConnectionLimiter(options.perAddress);
    this.#log = options.log.child('delivery');
  }

  async start(): Promise<void> {}

  async drain(): Promise<void> {
    this.#isDraining = true;
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    for (const session of [...this.#sessions.values()]) session.end();
  }

  hasPath(path: string): boolean {
    return isWhepPath(path);
  }

  async handle(request: SignalingRequest): Promise<SignalingResponse> {
    const { method, path } = request;
    if (method === 'OPTIONS') return respond(204, { 'Accept-Post': SDP });
    if (path.startsWith(sessionsPath)) {
      return this.#update(this.#sessions.get(path.slice(sessionsPath.length)), request);
    }
    if (method !== 'POST') throw new AppError('method-not-allowed');
    return this.#watch(request);
  }

  #update(session: WhepSession | undefined, request: SignalingRequest): Promise<SignalingResponse> {
    const { webRtc } = this.#options;
    const { method } = request;
    if (method !== 'DELETE' && method !== 'PATCH') throw new AppError('method-not-allowed');
    if (session === undefined || webRtc === undefined) {
      throw detailed('resource-not-found', 'This session does not exist.');
    }
    if (method === 'PATCH') return session.ice.patch(session.webRtc, webRtc, request);
    session.end();
    return Promise.resolve(respond(200));
  }

  async #watch(request: SignalingRequest): Promise<SignalingResponse> {
    const liveStreamId = request.path.slice(endpointPath.length);
    const stream = await this.#admit(request, liveStreamId, 'check');
    const otherUrl = this.#options.live.current(liveStreamId)?.serverUrl;
    if (otherUrl !== undefined) {
      const query = request.query === '' ? '' : `?${request.query}`;
      return respond(307, { Location: `${otherUrl}${request.path}${query}` });
    }
    const { webRtc } = this.#options;
    const broadcast = this.#playable(liveStreamId, stream);
    if (request.contentType !== SDP) throw contentTypeError(SDP);
    const { offer, accepted } = readOffer(request.body);
    if (webRtc === undefined || this.#isDraining) {
      throw detailed(
        'not-ready',
        'This server does not accept WebRTC viewers right now. Play the HLS stream instead.',
        retryAfterSeconds,
      );
    }
    const place = this.#reserve(request.remoteAddress);
    const id = newId('wp');
    const viewer: Viewer = { request, liveStreamId, broadcast, stream };
    const session = this.#createSession(id, viewer, place);
    try {
      const opened = await webRtc.open({
        offer,
        accepted,
        events: session.events,
        address: addressOf(request),
      });
      session.connect(opened.session);
      if (session.isClosed) throw detailed('not-ready', 'The broadcast has ended.', retryAfterSeconds);
      viewer.stream = await this.#admit(request, liveStreamId, 'claim');
      const location = `${this.#options.sessionBase}${sessionsPath}${id}`;
      const headers = { ...session.ice.headers, ...this.#rewindHeader(liveStreamId, viewer.stream) };
      return respond(201, { 'Content-Type': SDP, Location: location, ...headers }, opened.answer);
    } catch (error) {
      session.end();
      throw error;
    }
  }

  /** @throws AppError `playback-refused` or `resource-not-found` */
  async #admit(
    { message, query }: SignalingRequest,
    liveStreamId: string,
    step: 'check' | 'claim',
  ): Promise<AdmittedStream> {
    const stream = liveStreamIdPattern.test(liveStreamId)
      ? await this.#gate.admitToPage(message, liveStreamId, query, step)
      : undefined;
    if (stream instanceof PlaybackRefusal) throw detailed('playback-refused', stream.reason);
    if (stream !== undefined) return stream;
    const text = 'There is no live stream with this id, or it is private and the token is missing or wrong.';
    throw detailed('resource-not-found', text);
  }

  /** Players show how far a viewer can go back, which HLS plays. */
  #rewindHeader(liveStreamId: string, { access }: AdmittedStream): Readonly<Record<string, string>> {
    const { live, clock } = this.#options;
    const { broadcastId, rewind } = live.current(liveStreamId) ?? {};
    if (rewind === undefined) return {};
    const seconds = rewind.sinceMs === undefined ? 0 : Math.max(0, clock.nowMs() - rewind.sinceMs) / 1000;
    const folder = `${liveStreamId}/${broadcastId}/storyboard/`;
    const storyboard = addressPlaylist(folder, liveStreamId, access, live.mediaUrl);
    return {
      'Millrace-Rewind': `seconds=${seconds.toFixed(1)}, max=${rewind.maxSeconds}, storyboard="${storyboard}"`,
    };
  }

  #playable(liveStreamId: string, { ultraLowLatency }: AdmittedStream): WhepBroadcast {
    const { live, source } = this.#options;
    const broadcast = ultraLowLatency ? source.find(liveStreamId) : undefined;
    if (broadcast === undefined) {
      if (!live.state(liveStreamId).live) {
        throw detailed('not-ready', 'The live stream is offline. Try again later.', retryAfterSeconds);
      }
      this.#options.viewers.recordRefusal('unsuitable');
      throw detailed('not-playable-over-webrtc', notOfferedText);
    }
    const { problem } = broadcast;
    if (problem !== undefined) {
      this.#options.viewers.recordRefusal('unsuitable');
      throw detailed('not-playable-over-webrtc', `${problem} Play the HLS stream instead.`);
    }
    if (!broadcast.hasBegun) {
      throw detailed('not-ready', 'The broadcast is starting. Try again in a moment.', 1);
    }
    return broadcast;
  }

  /** @throws AppError */
  #reserve(remoteAddress: string): ViewerPlace {
    const isFull = this.#viewers >= this.#options.maxViewers;
    const closed = isFull ? undefined : this.#limiter.open(remoteAddress);
    if (closed === undefined) {
      this.#options.viewers.recordRefusal('full');
      const who = isFull ? 'This server' : 'Your address';
      const text = `${who} has reached the limit of WebRTC viewers. Play the HLS stream instead.`;
      throw detailed('not-ready', text, 10);
    }
    let connected: () => void;
    try {
      connected = this.#options.unconnected.open(remoteAddress);
    } catch (error) {
      closed();
      throw error;
    }
    this.#viewers += 1;
    const left = () => {
      connected();
      this.#viewers -= 1;
      closed();
    };
    return { connected, left };
  }

  #createSession(id: string, viewer: Viewer, place: ViewerPlace): WhepSession {
    const { liveStreamId, broadcast, request } = viewer;
    const { remoteAddress } = request;
    const session: WhepSession = new WhepSession({
      broadcast,
      log: this.#log.child('delivery', { sessionId: id, protocol: 'whep', liveStreamId, remoteAddress }),
      watched: bytes => this.#count(viewer, bytes, viewer.stream.trafficOwner),
      isStillAdmitted: () =>
        this.#gate.stillAdmitsOverWebRtc(liveStreamId, viewer.stream.access, request.message),
      connected: place.connected,
      unconnected: () => this.#options.viewers.recordRefusal('unconnected'),
      ended: () => {
        this.#sessions.delete(id);
        place.left();
      },
    });
    this.#sessions.set(id, session);
    return session;
  }

  /** A private token has one viewer, whatever the address; a signed one may have many. */
  #count({ request, liveStreamId, stream }: Viewer, bytes: number, owner: TrafficOwner): void {
    const { viewers, observer } = this.#options;
    const { token, avh } = stream.access ?? {};
    if (token === undefined || avh === undefined)
      viewers.recordRequest(liveStreamId, request.remoteAddress, request.userAgent, 'ultraLow');
    else viewers.recordRequest(liveStreamId, token, '', 'ultraLow');
    if (bytes > 0) observer.bytesOut(bytes, owner);
  }
}

function readOffer(body: string): {
  readonly offer: SessionDescription;
  readonly accepted: readonly AcceptedMedia[];
} {
  const offer = parseSessionDescription(body);
  if (typeof offer === 'string') throw detailed('offer-invalid', offer);
  const accepted = acceptWhepOffer(offer);
  if (typeof accepted === 'string') throw detailed('offer-unsupported', accepted);
  const problem = offerProblem(
    offer,
    accepted.map(({ media }) => media),
  );
  if (problem !== undefined) throw detailed('offer-invalid', problem);
  return { offer, accepted };
}

const notOfferedText =
  'This broadcast is not delivered over WebRTC. Turn on ultra low latency in the settings of the live stream before the broadcast begins; sandbox broadcasts are HLS only.';
