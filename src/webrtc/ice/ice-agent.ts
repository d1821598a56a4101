import { randomBytes } from 'node:crypto';
import { randomBase62 } from '../../shared/ids.ts';
import type { IceCredentials } from '../sdp/session-description.ts';
import type { IcePath } from './ice-path.ts';
import {
  hasIntegrity,
  STUN_ATTRIBUTE,
  STUN_TYPE,
  type StunMessage,
  writeStun,
  xorMappedAddress,
} from './stun-message.ts';

/** 487, role conflict. RFC 8445, 7.3.1.1. */
const ROLE_CONFLICT = Buffer.from([0, 0, 4, 87]);
/** Priority of a host candidate over UDP. */
const PRIORITY = Buffer.from([0x7e, 0xff, 0xff, 0xff]);
const checkEveryMs = 2_000;
/** Interval of checks until the client answers. */
const firstChecksEveryMs = 500;
const minCheckIntervalMs = 50;
/** A path on which so many checks had no answer gives way to another one. */
const maxSilenceMs = 3 * checkEveryMs;

function newIceCredentials(): IceCredentials {
  return { usernameFragment: randomBase62(8), password: randomBase62(32) };
}

/**
 * The lite side of ICE, which answers checks. Sends checks of its own on the paths that the client uses: media goes to none
 * that has not answered, and they measure the round trip. RFC 8445, 2.5; RFC 7675.
 */
export class IceAgent {
  readonly remote: IceCredentials;
  readonly local = newIceCredentials();
  /** Paths from which checks came. */
  readonly #reached = new Set<IcePath>();
  /** Paths that the client has nominated, or from which it sends more than checks. */
  readonly #used = new Set<IcePath>();
  #selected: IcePath | undefined;
  /** Path nominated by the client. Becomes the selected one when it has answered. */
  #nominated: IcePath | undefined;
  #roundTripMs: number | undefined;

  constructor(remote: IceCredentials) {
    this.remote = remote;
  }

  /** Carries media; undefined before the client has answered a check. */
  get selected(): IcePath | undefined {
    return this.#selected;
  }

  /** Smoothed; undefined until measured. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs;
  }

  isAuthentic(message: StunMessage): boolean {
    if (message.type !== STUN_TYPE.request) return hasIntegrity(message, this.remote.password);
    const username = message.attributes.get(STUN_ATTRIBUTE.username)?.toString('latin1');
    const isForUs = username === `${this.local.usernameFragment}:${this.remote.usernameFragment}`;
    return isForUs && hasIntegrity(message, this.local.password);
  }

  /** @param message that is authentic */
  receiveRequest(message: StunMessage, path: IcePath, nowMs: number): void {
    const { local } = this;
    const { transactionId } = message;
    if (message.attributes.has(STUN_ATTRIBUTE.iceControlled)) {
      const attributes = [{ type: STUN_ATTRIBUTE.errorCode, value: ROLE_CONFLICT }];
      path.sendStun(writeStun(STUN_TYPE.error, transactionId, attributes, local.password), nowMs);
      return;
    }
    const value = xorMappedAddress(path.transport, transactionId);
    const attributes = [{ type: STUN_ATTRIBUTE.xorMappedAddress, value }];
    path.sendStun(writeStun(STUN_TYPE.success, transactionId, attributes, local.password), nowMs);
    this.#reached.add(path);
    const isNominating = message.attributes.has(STUN_ATTRIBUTE.useCandidate);
    if (isNominating) this.#nominated = path;
    if (isNominating || this.#used.has(path)) this.use(path, nowMs);
  }

  /** The client sends more than checks from there. */
  use(path: IcePath, nowMs: number): void {
    if (!this.#reached.has(path)) return;
    this.#used.add(path);
    if (path.hasConsent(nowMs)) this.#select(path, nowMs);
    else if (path.isCheckDue(nowMs, minCheckIntervalMs)) this.#check(path, nowMs);
  }

  /** @param message that is authentic, and answers a check on this path */
  receiveAnswer(message: StunMessage, path: IcePath, nowMs: number): void {
    const ms = nowMs - path.confirm(transactionOf(message));
    if (path.hasConsent(nowMs)) this.#select(path, nowMs);
    if (path !== this.#selected) return;
    this.#roundTripMs = this.#roundTripMs === undefined ? ms : (this.#roundTripMs * 7 + ms) / 8;
  }

  /** Sends the checks that are due, and leaves a path that no longer answers. Call it often. */
  tick(nowMs: number): void {
    if (this.#selected?.hasConsent(nowMs) !== true) {
      this.#selected = [...this.#used].find(path => path.hasConsent(nowMs));
    }
    for (const path of this.#used) {
      const isUnused = path !== this.#selected && path.hasConsent(nowMs);
      const everyMs = path === this.#selected ? checkEveryMs : firstChecksEveryMs;
      if (!isUnused && path.isCheckDue(nowMs, everyMs)) this.#check(path, nowMs);
    }
  }

  /** The path ended. */
  forget(path: IcePath): void {
    this.#reached.delete(path);
    this.#used.delete(path);
    if (this.#nominated === path) this.#nominated = undefined;
    if (this.#selected === path) this.#selected = undefined;
  }

  /** @param path with consent */
  #select(path: IcePath, nowMs: number): void {
    const isWanted = this.#nominated === undefined || this.#nominated === path;
    const isSilent = this.#selected === undefined || this.#selected.silenceMs(nowMs) > maxSilenceMs;
    if (isWanted || isSilent) this.#selected = path;
  }

  #check(path: IcePath, nowMs: number): void {
    const id = randomBytes(12);
    const username = `${this.remote.usernameFragment}:${this.local.usernameFragment}`;
    const attributes = [
      { type: STUN_ATTRIBUTE.username, value: Buffer.from(username) },
      { type: STUN_ATTRIBUTE.priority, value: PRIORITY },
      { type: STUN_ATTRIBUTE.iceControlled, value: id.subarray(0, 8) },
    ];
    const message = writeStun(STUN_TYPE.request, id, attributes, this.remote.password);
    path.sendCheck(message, id.toString('latin1'), nowMs);
  }
}

export function transactionOf({ transactionId }: StunMessage): string {
  return transactionId.toString('latin1');
}
