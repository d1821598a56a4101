import { SoftwareAuthenticator } from './software-authenticator.ts';
import type { TestApi } from './start-api.ts';

type Api = Pick<TestApi, 'call' | 'listener'>;

/** Origin by which browsers know the API of a test. */
export function originOf({ listener }: Pick<TestApi, 'listener'>): string {
  return `http://localhost:${listener.httpPort}`;
}

/** The body that registers a new passkey. */
export async function newPasskey(
  api: Api,
  cookie: string,
  { password, code }: { password: string; code?: string },
  authenticator = new SoftwareAuthenticator(originOf(api)),
) {
  const { json, text } = await api.call('POST', '/account/passkey-options', {
    key: null,
    headers: { cookie },
    body: { password, code },
  });
  if (json?.publicKey === undefined) throw new Error(`there are no options for a passkey: ${text}`);
  return { name: 'Laptop', credential: authenticator.create(json.publicKey) };
}

/** Registers a passkey for whom the cookie is of. */
export async function addPasskey(
  api: Api,
  cookie: string,
  proof: { password: string; code?: string },
): Promise<{ passkeyId: string; authenticator: SoftwareAuthenticator }> {
  const authenticator = new SoftwareAuthenticator(originOf(api));
  const body = await newPasskey(api, cookie, proof, authenticator);
  const { json, text } = await api.call('POST', '/account/passkeys', {
    key: null,
    headers: { cookie },
    body,
  });
  if (json?.passkeyId === undefined) throw new Error(`no passkey was registered: ${text}`);
  return { passkeyId: json.passkeyId, authenticator };
}

/** The body that signs in with a passkey. */
export async function passkeySignIn(api: Api, authenticator: SoftwareAuthenticator) {
  const { json } = await api.call('POST', '/auth/passkey-options', { key: null });
  return { credential: authenticator.get(json.publicKey) };
}
