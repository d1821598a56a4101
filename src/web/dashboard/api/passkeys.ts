import { t } from '../texts/shell.ts';
import type { Passkey } from './api-types.ts';
import { call } from './client.ts';
import { ApiProblem } from './problem.ts';
import { openSession } from './sessions.ts';

/** Undefined where this browser and this address allow passkeys. */
export function passkeyObstacle(): string | undefined {
  const isAddress = /^\[|^[\d.]+$/.test(location.hostname);
  if (!window.isSecureContext || isAddress) {
    return t('passkey.insecure');
  }
  const isSupported =
    typeof PublicKeyCredential === 'function' && 'parseCreationOptionsFromJSON' in PublicKeyCredential;
  return isSupported ? undefined : t('passkey.unsupported');
}

/** @throws ApiProblem */
export async function registerPasskey(
  name: string,
  proof: { password: string; code?: string },
): Promise<Passkey> {
  const { publicKey } = await call('POST /account/passkey-options', { body: proof });
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(
    publicKey as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const made = await askAuthenticator(() => navigator.credentials.create({ publicKey: options }));
  const credential = made.toJSON() as RegistrationResponseJSON;
  return call('POST /account/passkeys', {
    body: { name, credential: { ...credential, type: 'public-key' } },
  });
}

/** Lifetime of an offer, shorter than the 5 minutes of a challenge. */
const maxOfferMs = 4 * 60_000;

/** @throws ApiProblem */
export async function signInWithPasskey(): Promise<void> {
  const publicKey = await requestOptions();
  await openSessionWith(await askAuthenticator(() => navigator.credentials.get({ publicKey })));
}

/**
 * Offers passkeys in the autofill of the browser, where it can, until somebody chooses one or `signal` aborts.
 * @param signal must abort before {@link signInWithPasskey}: browsers allow one request at a time
 * @throws ApiProblem when the chosen passkey was not accepted
 */
export async function offerPasskeys(signal: AbortSignal): Promise<void> {
  if (passkeyObstacle() !== undefined || !('isConditionalMediationAvailable' in PublicKeyCredential)) return;
  if (!(await PublicKeyCredential.isConditionalMediationAvailable())) return;
  while (!signal.aborted) {
    await untilVisible(signal);
    const chosen = await chosenPasskey(AbortSignal.any([signal, AbortSignal.timeout(maxOfferMs)]));
    if (chosen === 'expired') continue;
    if (chosen !== 'unavailable') await openSessionWith(chosen);
    return;
  }
}

/**
 * Waits until the user picks one of the offered passkeys. Nobody asked for the offer, so its problems are not
 * shown.
 */
async function chosenPasskey(signal: AbortSignal): Promise<PublicKeyCredential | 'expired' | 'unavailable'> {
  try {
    const publicKey = await requestOptions(signal);
    const chosen = await navigator.credentials.get({ publicKey, mediation: 'conditional', signal });
    return chosen instanceof PublicKeyCredential ? chosen : 'unavailable';
  } catch {
    return signal.aborted ? 'expired' : 'unavailable';
  }
}

async function untilVisible(signal: AbortSignal): Promise<void> {
  while (document.hidden && !signal.aborted) {
    await new Promise<void>(resolve => {
      const options = { once: true, signal } as const;
      document.addEventListener('visibilitychange', () => resolve(), options);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}

async function requestOptions(signal?: AbortSignal): Promise<PublicKeyCredentialRequestOptions> {
  const { publicKey } = await call('POST /auth/passkey-options', signal === undefined ? {} : { signal });
  return PublicKeyCredential.parseRequestOptionsFromJSON(
    publicKey as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
}

async function openSessionWith(answer: PublicKeyCredential): Promise<void> {
  const credential = answer.toJSON() as AuthenticationResponseJSON;
  const body = { credential: { ...credential, type: 'public-key' as const } };
  openSession(await call('POST /auth/passkey', { body }));
}

async function askAuthenticator(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential;
  } catch (error) {
    throw new ApiProblem(0, { title: reasonOf(error) });
  }
  throw new ApiProblem(0, { title: t('passkey.missing') });
}

function reasonOf(error: unknown): string {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError') return t('passkey.canceled');
  if (name === 'InvalidStateError') return t('passkey.registered');
  if (name === 'SecurityError') return t('passkey.wrongAddress');
  return t('passkey.failed');
}
