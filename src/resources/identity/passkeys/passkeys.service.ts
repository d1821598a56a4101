import { createPublicKey } from 'node:crypto';
import type { PeerRequest } from '../../../http/listener/client-address.ts';
import type { SessionCaller } from '../../../http/routing/caller.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { AppError, messageOf } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import type { ListResult, PageRequest, Sort } from '../../../shared/list-page.ts';
import type { Logger } from '../../../shared/logger.ts';
import { rsaProblem } from '../../../shared/rsa-key.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { SessionsService, SignedIn, SignInOrigin } from '../sessions/sessions.service.ts';
import type { TwoFactorService } from '../two-factor/two-factor.service.ts';
import type { Challenges } from './challenges.ts';
import { maxPasskeysPerUser, type Passkey, type RelyingParty, relyingPartyOf } from './passkey.ts';
import type { PasskeyCreation, PasskeySignIn, PasskeyView } from './passkeys.schema.ts';
import type { PasskeysStore } from './passkeys.store.ts';

interface PasskeysServiceOptions {
  readonly accounts: AccountsStore;
  readonly audit: AuditLog;
  readonly sessions: SessionsService;
  readonly twoFactor: TwoFactorService;
  readonly store: PasskeysStore;
  readonly challenges: Challenges;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** EdDSA, ES256 and RS256 (IANA COSE Algorithms), which all authenticators have one of. */
const algorithms = [-8, -7, -257];
/** Loaded for the first passkey: they take 4 MB. */
const loadWebAuthn = () => import('@simplewebauthn/server');
const signInPurpose = 'sign-in';
const registrationPurpose = ({ sessionId }: SessionCaller) => `registration ${sessionId}`;

/** Passkeys (Web Authentication, W3C). They verify the user, so a sign-in with one needs neither password nor code. */
export class PasskeysService {
  readonly #options: PasskeysServiceOptions;

  constructor(options: PasskeysServiceOptions) {
    this.#options = options;
  }

  find({ userId }: SessionCaller, passkeyId: string): Promise<Passkey | undefined> {
    return this.#options.store.find(userId, passkeyId);
  }

  async list(
    { userId }: SessionCaller,
    { direction }: Sort<'createdAt'>,
    { currentPage, pageSize }: PageRequest,
  ): Promise<ListResult<PasskeyView>> {
    const all = await this.#options.store.all(userId, direction);
    const from = (currentPage - 1) * pageSize;
    return { items: all.slice(from, from + pageSize).map(viewOf), total: all.length };
  }

  async creationOptions(
    caller: SessionCaller,
    proof: { password: string; code?: string | undefined },
    request: PeerRequest,
  ) {
    const { store, twoFactor, challenges } = this.#options;
    const { id } = this.#relyingParty();
    const { email } = await twoFactor.confirmIdentity(caller, proof, request);
    const { generateRegistrationOptions } = await loadWebAuthn();
    return generateRegistrationOptions({
      rpName: 'Millrace',
      rpID: id,
      userName: email,
      userDisplayName: email,
      userID: new TextEncoder().encode(caller.userId),
      challenge: await challenges.create(registrationPurpose(caller)),
      excludeCredentials: (await store.all(caller.userId)).map(({ credentialId, transports }) => ({
        id: credentialId.toString('base64url'),
        transports: [...transports],
      })),
      supportedAlgorithmIDs: algorithms,
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /** @throws AppError `invalid-attribute`, `passkey-limit-reached` */
  async create(caller: SessionCaller, { name, credential }: PasskeyCreation): Promise<PasskeyView> {
    const { accounts, store, challenges, clock, log } = this.#options;
    const { challenge, counter, ...key } = await this.#verifyRegistration(caller, credential);
    const passkey: Passkey = {
      passkeyId: newId('pk'),
      userId: caller.userId,
      name,
      counter,
      ...key,
      createdAtMs: clock.nowMs(),
      lastUsedAtMs: undefined,
    };
    const outcome = await accounts.changeAccess(caller.accountId, async transaction => {
      await accounts.requireSession(caller, transaction);
      if (!(await challenges.use(challenge, transaction))) return 'used';
      return store.add(passkey, maxPasskeysPerUser, transaction);
    });
    if (outcome === 'used') throw attributeError('credential', 'This passkey was registered a moment ago.');
    if (outcome === 'known') throw attributeError('credential', 'This passkey is already registered.');
    if (outcome === 'limit') {
      const detail = `You have ${maxPasskeysPerUser} passkeys, which is the maximum. Delete one that you no longer use.`;
      throw new AppError('passkey-limit-reached', undefined, { details: { detail } });
    }
    log.info('passkey-registered', { userId: caller.userId, passkeyId: passkey.passkeyId });
    return viewOf(passkey);
  }

  view(passkey: Passkey): PasskeyView {
    return viewOf(passkey);
  }

  async rename(passkey: Passkey, name: string): Promise<PasskeyView> {
    await this.#options.store.rename(passkey, name);
    return viewOf({ ...passkey, name });
  }

  async remove(passkey: Passkey): Promise<void> {
    await this.#options.store.remove(passkey);
    this.#options.log.info('passkey-deleted', { userId: passkey.userId, passkeyId: passkey.passkeyId });
  }

  async requestOptions() {
    const { id } = this.#relyingParty();
    const { generateAuthenticationOptions } = await loadWebAuthn();
    return generateAuthenticationOptions({
      rpID: id,
      challenge: await this.#options.challenges.create(signInPurpose),
      userVerification: 'required',
    });
  }

  /** @throws AppError `authentication-invalid-passkey`, `authorization-suspended-account` */
  async signIn({ credential }: PasskeySignIn, from: SignInOrigin): Promise<SignedIn> {
    const { accounts, audit, sessions, store, challenges, clock } = this.#options;
    const relyingParty = this.#relyingParty();
    const found = await store.findByCredential(Buffer.from(credential.id, 'base64url'));
    if (found === undefined) throw invalidPasskey('It is not registered here. It may have been deleted.');
    const { passkey, email } = found;
    const user = await accounts.findUser(email);
    if (user?.userId !== passkey.userId) throw invalidPasskey('Its user was removed.');
    try {
      const { challenge, newCounter } = await this.#verifyUse(passkey, credential, relyingParty);
      return await sessions.start(user, from, async (_, transaction) => {
        const isFirst = await challenges.use(challenge, transaction);
        const use = { newCounter, atMs: clock.nowMs() };
        if (!isFirst || !(await store.recordUse(passkey, use, transaction))) {
          throw invalidPasskey('It was used a moment ago. Try again.');
        }
      });
    } catch (error) {
      if (error instanceof AppError) await audit.recordSignIn(user, 'refused', from.request);
      throw error;
    }
  }

  async #verifyRegistration(caller: SessionCaller, credential: PasskeyCreation['credential']) {
    const { id, origin } = this.#relyingParty();
    const { transports = [], ...response } = credential.response;
    const { verifyRegistrationResponse } = await loadWebAuthn();
    let challenge = '';
    try {
      const { verified, registrationInfo } = await verifyRegistrationResponse({
        response: { ...credential, response, clientExtensionResults: {} },
        expectedChallenge: async sent => {
          challenge = sent;
          return this.#options.challenges.isValid(sent, registrationPurpose(caller));
        },
        expectedOrigin: origin,
        expectedRPID: id,
        supportedAlgorithmIDs: algorithms,
      });
      if (!verified) throw new Error('the signature is wrong');
      const { publicKey, counter } = registrationInfo.credential;
      await requireStrongKey(publicKey);
      const credentialId = Buffer.from(registrationInfo.credential.id, 'base64url');
      return { challenge, credentialId, publicKey: Buffer.from(publicKey), counter, transports };
    } catch (error) {
      this.#options.log.info('passkey-refused', { userId: caller.userId, reason: messageOf(error) });
      throw attributeError('credential', 'The passkey could not be verified. Try again within 5 minutes.');
    }
  }

  async #verifyUse(
    { credentialId, publicKey, counter, userId, passkeyId }: Passkey,
    credential: PasskeySignIn['credential'],
    { id, origin }: RelyingParty,
  ): Promise<{ challenge: string; newCounter: number }> {
    const { userHandle, ...response } = credential.response;
    const { verifyAuthenticationResponse } = await loadWebAuthn();
    let challenge = '';
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response: { ...credential, response, clientExtensionResults: {} },
        expectedChallenge: async sent => {
          challenge = sent;
          return this.#options.challenges.isValid(sent, signInPurpose);
        },
        expectedOrigin: origin,
        expectedRPID: id,
        credential: {
          id: credentialId.toString('base64url'),
          counter,
          publicKey: new Uint8Array(publicKey),
        },
      });
      if (!verified) throw new Error('the signature is wrong');
      // Web Authentication, 7.2, 6: a discoverable credential names its user.
      if (Buffer.from(userHandle ?? '', 'base64url').toString() !== userId) throw new Error('another user');
      return { challenge, newCounter: authenticationInfo.newCounter };
    } catch (error) {
      this.#options.log.info('passkey-refused', { userId, passkeyId, reason: messageOf(error) });
      throw invalidPasskey('It could not be verified. Try again.');
    }
  }

  /** @throws AppError `passkeys-unavailable` */
  #relyingParty(): RelyingParty {
    const relyingParty = relyingPartyOf(this.#options.publicUrl());
    if (relyingParty === undefined) throw new AppError('passkeys-unavailable');
    return relyingParty;
  }
}

function invalidPasskey(detail: string): AppError {
  return new AppError('authentication-invalid-passkey', undefined, { details: { detail } });
}

export function viewOf({ passkeyId, name, createdAtMs, lastUsedAtMs }: Passkey): PasskeyView {
  return {
    passkeyId,
    name,
    createdAt: formatAtom(createdAtMs),
    lastUsedAt: lastUsedAtMs === undefined ? undefined : formatAtom(lastUsedAtMs),
  };
}

/** RFC 9053 and RFC 8230, 4. @throws Error for a weak RSA key */
async function requireStrongKey(coseKey: Uint8Array<ArrayBuffer>): Promise<void> {
  const { cose, decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers');
  const key = decodeCredentialPublicKey(coseKey);
  if (!cose.isCOSEPublicKeyRSA(key)) return;
  const [n, e] = [cose.COSEKEYS.n, cose.COSEKEYS.e].map(name =>
    Buffer.from((key as unknown as Map<number, Uint8Array>).get(name) ?? []).toString('base64url'),
  );
  const problem = rsaProblem(createPublicKey({ key: { kty: 'RSA', n: n!, e: e! }, format: 'jwk' }));
  if (problem !== undefined) throw new Error(problem);
}
