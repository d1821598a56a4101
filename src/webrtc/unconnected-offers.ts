import { AppError } from '../shared/errors.ts';
import { ConnectionLimiter, type ConnectionLimiterOptions } from '../shared/network/connection-limiter.ts';

/** Clients behind one address may join at the same moment. */
export const maxUnconnectedPerAddress = 16;
const retryAfterSeconds = 2;

/** Limits the sessions of one address that were offered and have not connected, so that nobody fills the server with them. */
export class UnconnectedOffers {
  readonly #limiter: ConnectionLimiter;

  constructor(options: ConnectionLimiterOptions) {
    this.#limiter = new ConnectionLimiter(options);
  }

  /**
   * @returns a function to call when the session is connected or has ended
   * @throws AppError `too-many-requests`
   */
  open(remoteAddress: string): () => void {
    const closed = this.#limiter.open(remoteAddress);
    if (closed === undefined) {
      const detail =
        'Your address has opened WebRTC sessions that have not connected. Try again in a moment, and check that your network can reach the WebRTC port of the server.';
      throw new AppError('too-many-requests', detail, { details: { detail, retryAfterSeconds } });
    }
    let isOpen = true;
    return () => {
      if (isOpen) closed();
      isOpen = false;
    };
  }
}
