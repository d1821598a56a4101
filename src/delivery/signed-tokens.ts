import { createHash, type KeyObject } from 'node:crypto';
import type * as Jose from 'jose';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import type { Clock } from '../shared/clock.ts';
import { maxEntries } from '../shared/lru-limit.ts';
import {
  countryPattern,
  domainPattern,
  maxPolicyCountries,
  maxPolicyDomains,
  type PlaybackPolicy,
  type ViewerLimits,
} from '../shared/playback-policy.ts';
import { RecentLookups } from '../shared/recent-lookups.ts';
import { viewerRefusals } from './viewer-refusals.ts';

export interface VerificationKey {
  readonly projectId: string;
  readonly algorithm: 'ES256' | 'EdDSA' | 'RS256';
  readonly publicKey: KeyObject;
}

export interface SignedClaims {
  /** Limits from the claims `domains`, `countries` and `exp`, and the key. */
  readonly limits: ViewerLimits;
  readonly viewer: string | undefined;
}

interface SignedTokensOptions {
  readonly findSigningKey: (signingKeyId: string) => Promise<VerificationKey | undefined>;
  readonly clock: Clock;
}

interface VerifiedToken {
  readonly projectId: string;
  readonly subject: string;
  readonly startsAtMs: number;
  readonly claims: SignedClaims;
}

const maxTokenChars = 1600;
const maxLifetimeSeconds = 7 * 86_400;
/** Clocks of those who sign may be off by this much. */
const clockToleranceMs = 30_000;
const maxCached = 20_000;
const maxPendingChecks = 500;
const algorithms = ['ES256', 'EdDSA', 'RS256'] as const;
const keyIdPattern = /^sk[0-9A-Za-z]{22}$/;

const claimsSchema = z.object({
  sub: z.string().max(64),
  exp: z.number(),
  nbf: z.number().optional(),
  domains: z.array(z.string().regex(domainPattern).toLowerCase()).min(1).max(maxPolicyDomains).optional(),
  countries: z.array(z.string().regex(countryPattern)).min(1).max(maxPolicyCountries).optional(),
  viewer: z
    .string()
    .regex(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u)
    .optional(),
});

const shapeText = "The token isn't a JSON Web Token. Sign it as shown in the signed playback documentation.";
const algorithmText =
  "The algorithm of the token isn't that of its signing key. Sign it with the key's algorithm: ES256, EdDSA or RS256.";
const keyText =
  'The signing key of the token does not exist in this environment, or it was revoked. Set the `kid` of its header to the id of a signing key.';

/** A private token is a UUID; a signed one has three parts. */
export function isSignedToken(token: string): boolean {
  return token.includes('.');
}

/** Verifies JSON Web Tokens. A result is cached, so that a request for media costs no check of a signature. */
export class SignedTokens {
  readonly #keys: RecentLookups<VerificationKey>;
  readonly #clock: Clock;
  readonly #verified = new LRUCache<string, VerifiedToken>(maxEntries(maxCached));
  readonly #pending = new Map<string, Promise<VerifiedToken | string>>();

  constructor({ findSigningKey, clock }: SignedTokensOptions) {
    this.#keys = new RecentLookups(findSigningKey, clock);
    this.#clock = clock;
  }

  /** Returns the claims of a token for this video or live stream, or why it is refused. */
  async verify(token: string, resource: { id: string; projectId: string }): Promise<SignedClaims | string> {
    if (token.length > maxTokenChars) {
      return `The token is longer than ${maxTokenChars} characters. Sign it with fewer claims, or with ES256.`;
    }
    const name = nameOf(token);
    const verified = this.#verified.get(name) ?? (await this.#check(name, token));
    if (typeof verified === 'string') return verified;
    const nowMs = this.#clock.nowMs();
    if (nowMs >= verified.claims.limits.endsAtMs + clockToleranceMs) return viewerRefusals.expired;
    if (nowMs < verified.startsAtMs - clockToleranceMs)
      return 'The token is not valid yet. Wait until its `nbf`.';
    const { signingKeyId } = verified.claims.limits;
    if (verified.projectId !== resource.projectId || !(await this.hasKey(signingKeyId))) return keyText;
    if (verified.subject !== resource.id) {
      return 'The token is for another video or live stream. Set its `sub` to the id of this one.';
    }
    return verified.claims;
  }

  /** False once it is revoked. */
  async hasKey(signingKeyId: string): Promise<boolean> {
    return (this.#keys.recent(signingKeyId) ?? (await this.#keys.find(signingKeyId))) !== undefined;
  }

  #check(name: string, token: string): Promise<VerifiedToken | string> {
    let check = this.#pending.get(name);
    if (check === undefined) {
      if (this.#pending.size >= maxPendingChecks) {
        return Promise.resolve('The server is checking too many tokens. Try again in a moment.');
      }
      check = this.#verifySignature(token)
        .then(verified => {
          if (typeof verified === 'object') this.#verified.set(name, verified);
          return verified;
        })
        .finally(() => this.#pending.delete(name));
      this.#pending.set(name, check);
    }
    return check;
  }

  async #verifySignature(token: string): Promise<VerifiedToken | string> {
    const jose = await import('jose');
    const header = headerOf(token, jose);
    if (header === undefined) return shapeText;
    if (!algorithms.some(known => known === header.alg)) return algorithmText;
    const { kid } = header;
    if (typeof kid !== 'string' || !keyIdPattern.test(kid)) return keyText;
    const key = this.#keys.recent(kid) ?? (await this.#keys.find(kid));
    if (key === undefined) return keyText;
    if (key.algorithm !== header.alg) return algorithmText;
    const nowMs = this.#clock.nowMs();
    try {
      const { payload } = await jose.jwtVerify(token, key.publicKey, {
        algorithms: [key.algorithm],
        requiredClaims: ['sub', 'exp'],
        clockTolerance: clockToleranceMs / 1000,
        currentDate: new Date(nowMs),
      });
      return readClaims(payload, { keyId: kid, projectId: key.projectId, nowMs });
    } catch (error) {
      return refusalOf(error, jose);
    }
  }
}

function nameOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

function headerOf(
  token: string,
  { decodeProtectedHeader }: typeof Jose,
): { readonly alg?: unknown; readonly kid?: unknown } | undefined {
  try {
    return decodeProtectedHeader(token);
  } catch {
    return undefined;
  }
}

function readClaims(
  payload: object,
  { keyId, projectId, nowMs }: { keyId: string; projectId: string; nowMs: number },
): VerifiedToken | string {
  const read = claimsSchema.safeParse(payload);
  if (!read.success) {
    const name = String(read.error.issues[0]?.path[0] ?? '');
    return `The claim \`${name}\` of the token is invalid. Sign a new token as documented.`;
  }
  const { sub, exp, nbf = 0, domains, countries, viewer } = read.data;
  if (exp * 1000 > nowMs + maxLifetimeSeconds * 1000 + clockToleranceMs) {
    return 'The token is valid for too long. Set its `exp` to at most 7 days from now.';
  }
  const policy: PlaybackPolicy = {
    allowedDomains: domains ?? [],
    allowNoReferrer: true,
    allowedCountries: countries ?? [],
    blockedCountries: [],
  };
  return {
    projectId,
    subject: sub,
    startsAtMs: nbf * 1000,
    claims: {
      limits: {
        signingKeyId: keyId,
        policy: domains === undefined && countries === undefined ? undefined : policy,
        endsAtMs: exp * 1000,
      },
      viewer,
    },
  };
}

function refusalOf(error: unknown, { errors }: typeof Jose): string {
  if (error instanceof errors.JWTExpired) return viewerRefusals.expired;
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return 'The signature of the token is wrong. Sign it with the private key that belongs to its `kid`.';
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.claim === 'nbf' && error.reason === 'check_failed'
      ? 'The token is not valid yet. Wait until its `nbf`.'
      : `The claim \`${error.claim}\` of the token is missing or invalid. Sign a new token as documented.`;
  }
  if (error instanceof errors.JOSEError) return shapeText;
  throw error;
}
