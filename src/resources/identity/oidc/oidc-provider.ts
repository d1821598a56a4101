import type * as OpenId from 'openid-client';
import type { Clock } from '../../../shared/clock.ts';
import { AppError, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/logger.ts';
import { boundedFetch } from '../../../shared/network/bounded-fetch.ts';
import type { Secret } from '../../../shared/secret.ts';
import type { Identity } from './identities.store.ts';
import type { SignInChecks } from './sign-in-cookie.ts';

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret | undefined;
  readonly name: string;
  readonly createAccounts: boolean;
}

/** A person whom the provider has signed in. */
export interface ProvenPerson extends Identity {
  /** Email address as the provider spells it. */
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
}

/** Loaded when somebody signs in with the provider. */
const loadClient = () => import('openid-client');
const timeoutSeconds = 10;
const discoveryLifetimeMs = 3_600_000;
const clockToleranceSeconds = 30;
/** OpenID Connect Core, 2. */
const maxSubjectLength = 255;
const maxEmailLength = 320;

/** An OpenID Connect provider. It is first asked when somebody signs in. */
export class OidcProvider {
  readonly #settings: OidcSettings;
  readonly #clock: Clock;
  readonly #log: Logger;
  #discovered: { readonly atMs: number; readonly configuration: Promise<OpenId.Configuration> } | undefined;

  constructor(settings: OidcSettings, { clock, log }: { clock: Clock; log: Logger }) {
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
  }

  /** @throws AppError `oidc-provider-unavailable` */
  async authorizationUrl({ state, nonce, codeVerifier }: SignInChecks, redirectUri: string): Promise<string> {
    const configuration = await this.#configuration();
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await loadClient();
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: 'openid email',
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return url.href;
  }

  /**
   * Exchanges the code of the provider, and verifies the ID token.
   * @param redirected the redirect address with the query of the provider
   * @throws AppError `authentication-oidc-refused`, `oidc-provider-unavailable`
   */
  async identify(redirected: URL, { state, nonce, codeVerifier }: SignInChecks): Promise<ProvenPerson> {
    const configuration = await this.#configuration();
    const client = await loadClient();
    try {
      const tokens = await client.authorizationCodeGrant(configuration, redirected, {
        pkceCodeVerifier: codeVerifier,
        expectedState: state,
        expectedNonce: nonce,
      });
      const { iss, sub, ...claims } = tokens.claims()!;
      if (sub.length > maxSubjectLength) throw new Error('the subject is too long');
      const hasEmail = typeof claims.email === 'string';
      const { userinfo_endpoint } = configuration.serverMetadata();
      const { email, email_verified } =
        hasEmail || userinfo_endpoint === undefined
          ? claims
          : await client.fetchUserInfo(configuration, tokens.access_token, sub);
      return {
        issuer: iss,
        subject: sub,
        email: typeof email === 'string' && email.length <= maxEmailLength ? email : undefined,
        // Amazon Cognito sends a text.
        isEmailVerified: email_verified === true || email_verified === 'true',
      };
    } catch (error) {
      throw this.#problemOf(error, client);
    }
  }

  async #configuration(): Promise<OpenId.Configuration> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#discovered === undefined || nowMs - this.#discovered.atMs >= discoveryLifetimeMs) {
      this.#discovered = { atMs: nowMs, configuration: this.#discover() };
    }
    const discovered = this.#discovered;
    try {
      return await discovered.configuration;
    } catch (error) {
      if (this.#discovered === discovered) this.#discovered = undefined;
      throw this.#unavailable(error, 'sent an unexpected response');
    }
  }

  async #discover(): Promise<OpenId.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const url = new URL(issuer);
    const client = await loadClient();
    const checks = [client.enableNonRepudiationChecks];
    if (url.protocol === 'http:') checks.push(client.allowInsecureRequests);
    return client.discovery(
      url,
      clientId,
      { [client.clockTolerance]: clockToleranceSeconds },
      clientSecret === undefined ? client.None() : authenticationWith(clientSecret, client),
      { [client.customFetch]: boundedFetch, timeout: timeoutSeconds, execute: checks },
    );
  }

  #problemOf(error: unknown, client: typeof OpenId): AppError {
    if (error instanceof client.AuthorizationResponseError) {
      const isCanceled = error.error === 'access_denied';
      return refusedSignIn(
        isCanceled
          ? `You canceled, or ${this.#settings.name} did not let you in. Start again.`
          : `${this.#settings.name} refused the sign-in (${shortCode(error.error)}). Ask the operator to check its settings there.`,
      );
    }
    if (error instanceof client.ResponseBodyError) {
      if (error.error === 'invalid_grant')
        return refusedSignIn('It was already used, or it took too long. Start again.');
      return this.#unavailable(error, `refused this server (${shortCode(error.error)})`);
    }
    const isUnverified =
      error instanceof client.ClientError && !/TIMEOUT|ABORT|RESPONSE_IS_NOT/.test(error.code ?? '');
    if (!isUnverified) return this.#unavailable(error, 'sent an unexpected response');
    this.#log.warn('oidc-answer-refused', { reason: reasonOf(error) });
    return refusedSignIn(`The response from ${this.#settings.name} could not be verified. Start again.`);
  }

  #unavailable(error: unknown, happened: string): AppError {
    this.#log.warn('oidc-provider-unavailable', { issuer: this.#settings.issuer, reason: reasonOf(error) });
    const detail = `${this.#settings.name} ${happened}. Try again later, or sign in with your password. The server log has the reason.`;
    return new AppError('oidc-provider-unavailable', undefined, { cause: error, details: { detail } });
  }
}

export function refusedSignIn(detail: string): AppError {
  return new AppError('authentication-oidc-refused', undefined, { details: { detail } });
}

/** Sends the secret as the provider supports it. OpenID Connect Discovery, 3: without a list, only HTTP Basic. */
function authenticationWith(
  secret: Secret,
  { ClientSecretPost, ClientSecretBasic }: typeof OpenId,
): OpenId.ClientAuth {
  const post = ClientSecretPost(secret.reveal());
  const basic = ClientSecretBasic(secret.reveal());
  return (server, ...rest) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    (supported.includes('client_secret_post') ? post : basic)(server, ...rest);
  };
}

/** RFC 6749, 5.2: error codes are ASCII. */
function shortCode(code: string): string {
  return /^[\w-]{1,60}$/.test(code) ? code : 'unknown error';
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${messageOf(error.cause)}` : '';
  return `${messageOf(error)}${cause}`.slice(0, 500);
}
