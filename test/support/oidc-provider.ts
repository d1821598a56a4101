import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import type { OidcSettings } from '../../src/resources/identity/oidc/oidc-provider.ts';
import { Secret } from '../../src/shared/secret.ts';
import type { TestApi } from './start-api.ts';

const clientId = 'millrace';
const clientSecret = 'a secret of tests';

interface Person {
  readonly email?: string;
  readonly isVerified?: boolean;
}

/** A real OpenID Connect provider, whose login page accepts everybody. */
export class TestOidcProvider {
  /** People by their login at the provider, which is the subject. */
  readonly people = new Map<string, Person>();
  readonly settings: OidcSettings;
  readonly #server: Server;
  readonly #provider: RequestListener;

  private constructor(server: Server) {
    const { port } = server.address() as AddressInfo;
    this.#server = server;
    const issuer = `http://localhost:${port}`;
    this.settings = {
      issuer,
      clientId,
      clientSecret: new Secret(clientSecret),
      name: 'Harbour ID',
      createAccounts: false,
    };
    this.#provider = this.#createProvider();
    this.answer();
  }

  static async start(): Promise<TestOidcProvider> {
    const server = createServer();
    server.listen(0, 'localhost');
    await once(server, 'listening');
    return new TestOidcProvider(server);
  }

  /** Answers with the provider, or as the test wants. */
  answer(listener = this.#provider): void {
    this.#server.removeAllListeners('request');
    this.#server.on('request', listener);
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #createProvider(): RequestListener {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const provider = new Provider(this.settings.issuer, {
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: ['http://localhost/dashboard/sign-in/oidc'],
        },
      ],
      cookies: { keys: ['a key of tests'] },
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] as never },
      ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      findAccount: (_, sub) => {
        const { email, isVerified = true } = this.people.get(sub) ?? {};
        const claims = email === undefined ? {} : { email, email_verified: isVerified };
        return { accountId: sub, claims: async () => ({ sub, ...claims }) };
      },
      // Grants consent without a page.
      loadExistingGrant: async ({ oidc }) => {
        const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session!.accountId! });
        grant.addOIDCScope('openid email');
        await grant.save();
        return grant;
      },
    });
    // The port of the server is not known before.
    provider.Client.prototype.redirectUriAllowed = uri => uri.endsWith('/dashboard/sign-in/oidc');
    return provider.callback();
  }
}

/** Goes to the provider and back. Returns what `POST /auth/oidc` needs. */
export async function proveAtProvider(
  { call }: Pick<TestApi, 'call'>,
  login: string,
): Promise<{ cookie: string; query: string }> {
  const { json, text, headers } = await call('POST', '/auth/oidc-request', { key: null });
  if (json?.url === undefined) throw new Error(`no sign-in began: ${text}`);
  const [cookie = ''] = headers.get('set-cookie')!.split(';');
  return { cookie, query: await signInAtProvider(json.url, login) };
}

/** Signs in at the page of the provider, as a browser would. Returns the query of the redirect address. */
async function signInAtProvider(url: string, login: string): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (address: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, { ...init, redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    return {
      next: location === null ? undefined : new URL(location, address).href,
      text: await response.text(),
    };
  };
  const { next: page, text } = await visit(url);
  if (page === undefined) throw new Error(`the provider shows no login: ${text}`);
  const body = new URLSearchParams({ prompt: 'login', login, password: 'any' });
  let { next } = await visit(page, { method: 'POST', body });
  for (let hops = 0; next !== undefined && hops < 5; hops += 1) {
    if (next.includes('/dashboard/sign-in/oidc?')) return new URL(next).search.slice(1);
    ({ next } = await visit(next));
  }
  throw new Error(`the provider does not send back: ${next}`);
}
