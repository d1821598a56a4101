import { randomBytes } from 'node:crypto';
import { randomBase62 } from '../../shared/ids.ts';
import type { IceCredentials } from '../sdp/session-description.ts';
import {
  hasIntegrity,
  STUN_ATTRIBUTE,
  STUN_TYPE,
  type StunMessage,
  writeStun,
  xorMappedAddress,
} from './stun-message.ts';
import type { TransportPath } from './transport-path.ts';

/** 487, role conflict. RFC 8445, 7.3.1.1. */
const ROLE_CONFLICT = Buffer.from([0, 0, 4, 87]);
/** Of a host candidate over UDP. */
const PRIORITY = Buffer.from([0x7e, 0xff, 0xff, 0xff]);
const maxOpenChecks = 8;

export function newIceCredentials(): IceCredentials {
  return { usernameFragment: randomBase62(8), password: randomBase62(32) };
}

/** The lite side of ICE: answers checks, and measures the round trip of the selected path. RFC 8445, 2.5. */
export class IceAgent {
  readonly remote: IceCredentials;
  readonly local = newIceCredentials();
  #selected: TransportPath | undefined;
  #isNominated = false;
  #roundTripMs: number | undefined;
  /** Times of requests without an answer, by transaction. */
  readonly #openChecks = new Map<string, number>();

  constructor(remote: IceCredentials) {
    this.remote = remote;
  }

  /** Undefined before the first valid check. */
  get selected(): TransportPath | undefined {
    return this.#selected;
  }

  /** Smoothed; undefined until measured. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs;
  }

  /** Returns false for messages that are not of this client, which get no answer. */
  receive(message: StunMessage, path: TransportPath, nowMs: number): boolean {
    if (message.type === STUN_TYPE.request) return this.#answer(message, path);
    if (message.type !== STUN_TYPE.success || !hasIntegrity(message, this.remote.password)) return false;
    const id = message.transactionId.toString('latin1');
    const sentAtMs = this.#openChecks.get(id);
    if (sentAtMs === undefined) return false;
    this.#openChecks.delete(id);
    const ms = nowMs - sentAtMs;
    this.#roundTripMs = this.#roundTripMs === undefined ? ms : (this.#roundTripMs * 7 + ms) / 8;
    return true;
  }

  /** Sends a check, whose answer tells the round trip. */
  check(nowMs: number): void {
    if (this.#selected === undefined) return;
    const id = randomBytes(12);
    if (this.#openChecks.size >= maxOpenChecks) this.#openChecks.clear();
    this.#openChecks.set(id.toString('latin1'), nowMs);
    const username = `${this.remote.usernameFragment}:${this.local.usernameFragment}`;
    const attributes = [
      { type: STUN_ATTRIBUTE.username, value: Buffer.from(username) },
      { type: STUN_ATTRIBUTE.priority, value: PRIORITY },
      { type: STUN_ATTRIBUTE.iceControlled, value: id.subarray(0, 8) },
    ];
    this.#selected.send(writeStun(STUN_TYPE.request, id, attributes, this.remote.password));
  }

  /** The path ended. */
  forget(path: TransportPath): void {
    if (this.#selected !== path) return;
    this.#selected = undefined;
    this.#isNominated = false;
  }

  #answer(message: StunMessage, path: TransportPath): boolean {
    const { local } = this;
    const username = message.attributes.get(STUN_ATTRIBUTE.username)?.toString('latin1');
    if (username !== `${local.usernameFragment}:${this.remote.usernameFragment}`) return false;
    if (!hasIntegrity(message, local.password)) return false;
    const { transactionId } = message;
    if (message.attributes.has(STUN_ATTRIBUTE.iceControlled)) {
      const attributes = [{ type: STUN_ATTRIBUTE.errorCode, value: ROLE_CONFLICT }];
      path.send(writeStun(STUN_TYPE.error, transactionId, attributes, local.password));
      return true;
    }
    const value = xorMappedAddress(path, transactionId);
    const attributes = [{ type: STUN_ATTRIBUTE.xorMappedAddress, value }];
    path.send(writeStun(STUN_TYPE.success, transactionId, attributes, local.password));
    const isNominating = message.attributes.has(STUN_ATTRIBUTE.useCandidate);
    if (isNominating || !this.#isNominated) this.#selected = path;
    this.#isNominated ||= isNominating;
    return true;
  }
}
