import { newId } from '../shared/ids.ts';
import {
  addressOf,
  contentTypeError,
  detailed,
  respond,
  type SignalingRequest,
  type SignalingResponse,
} from '../shared/network/signaling.ts';
import { readCredentials } from './sdp/session-description.ts';
import { candidateLine, credentialLines } from './sdp/write-answer.ts';
import type { WebRtcServer } from './webrtc-server.ts';
import type { WebRtcSession } from './webrtc-session.ts';

const SDP_FRAGMENT = 'application/trickle-ice-sdpfrag';

/** Trickle ICE and ICE restarts of one session of WHIP or WHEP. RFC 9725, 4.3. */
export class IceUpdates {
  /** Changes with an ICE restart. */
  #tag = newId('');

  /** Headers for the answer to the offer. */
  get headers(): Readonly<Record<string, string>> {
    return { ETag: this.#etag, 'Accept-Patch': SDP_FRAGMENT };
  }

  get #etag(): string {
    return `"${this.#tag}"`;
  }

  /**
   * Answers a `PATCH`. Candidates of the client need no attention, since it sends the checks.
   *
   * @throws AppError
   */
  async patch(
    session: WebRtcSession | undefined,
    server: WebRtcServer,
    request: SignalingRequest,
  ): Promise<SignalingResponse> {
    if (request.contentType !== SDP_FRAGMENT) throw contentTypeError(SDP_FRAGMENT);
    if (session === undefined) throw detailed('resource-not-found', 'This session is not open yet.');
    const { ifMatch } = request;
    if (ifMatch === undefined) {
      const text = 'Send the ETag of the ICE session as If-Match, or * to restart ICE.';
      throw detailed('session-tag-required', text);
    }
    if (ifMatch !== '*' && ifMatch !== this.#etag) {
      throw detailed('session-changed', 'The ETag is not that of the current ICE session.');
    }
    const value = (name: string) => new RegExp(`^a=${name}:(\\S+)\\s*$`, 'm').exec(request.body)?.[1];
    const usernameFragment = value('ice-ufrag');
    if (usernameFragment === undefined || usernameFragment === session.remoteCredentials.usernameFragment) {
      return respond(204);
    }
    const remote = readCredentials(usernameFragment, value('ice-pwd'));
    if (remote === undefined) {
      throw detailed('offer-invalid', 'The fragment lacks valid "ice-ufrag" and "ice-pwd" attributes.');
    }
    session.restartIce(remote);
    this.#tag = newId('');
    const candidates = await server.candidates(addressOf(request));
    const lines = [
      ...credentialLines(session.localCredentials),
      ...candidates.map(candidateLine),
      'a=end-of-candidates',
    ];
    const headers = { 'Content-Type': SDP_FRAGMENT, ETag: this.#etag };
    return respond(200, headers, `${lines.join('\r\n')}\r\n`);
  }
}
