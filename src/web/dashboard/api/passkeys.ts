import type { Passkey } from './api-types.ts';
import { call } from './client.ts';
import { ApiProblem } from './problem.ts';
import { openSession } from './sessions.ts';

/** Undefined where this browser and this address allow passkeys. */
export function passkeyObstacle(): string | undefined {
  const isAddress = /^\[|^[\d.]+$/.test(location.hostname);
  if (!window.isSecureContext || isAddress) {
    return 'Browsers allow passkeys with HTTPS and a host name only. Open the dashboard at such an address.';
  }
  const isSupported =
    typeof PublicKeyCredential === 'function' && 'parseCreationOptionsFromJSON' in PublicKeyCredential;
  return isSupported ? undefined : 'This browser doesn’t support passkeys. Update it, or use another one.';
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

/** @throws ApiProblem */
export async function signInWithPasskey(): Promise<void> {
  const { publicKey } = await call('POST /auth/passkey-options');
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(
    publicKey as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  const answer = await askAuthenticator(() => navigator.credentials.get({ publicKey: options }));
  const credential = answer.toJSON() as AuthenticationResponseJSON;
  const body = { credential: { ...credential, type: 'public-key' as const } };
  openSession(await call('POST /auth/passkey', { body }));
}

async function askAuthenticator(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential;
  } catch (error) {
    throw new ApiProblem(0, reasonOf(error));
  }
  throw new ApiProblem(0, { title: 'Your device returned no passkey.', detail: 'Try again.' });
}

function reasonOf(error: unknown): { title: string; detail: string } {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError') {
    return { title: 'No passkey was used.', detail: 'You canceled, or it took too long. Try again.' };
  }
  if (name === 'InvalidStateError') {
    return { title: 'This device has a passkey of yours already.', detail: 'Use it to sign in.' };
  }
  if (name === 'SecurityError') {
    return {
      title: 'Passkeys don’t work at this address.',
      detail: 'They belong to the public URL of the server. Open the dashboard there.',
    };
  }
  return { title: 'Your device couldn’t use the passkey.', detail: 'Try again, or use another device.' };
}
