import { createHash, X509Certificate } from 'node:crypto';
import type { AcmeRenewal } from './acme.store.ts';
import { certificateId } from './certificate-id.ts';

const renewalShare = 2 / 3;
/** Spreads the renewals of servers that were started together. */
const jitterShare = 1 / 20;
/** Part of the lifetime that a suggestion leaves at its end, for orders that fail. */
const reserveShare = 1 / 10;
const hourMs = 3_600_000;
/** Least age of a certificate that is renewed at a suggestion, so that a wrong one, or a wrong clock, causes no order after the other. */
const minAgeMs = 6 * hourMs;
/** Certificates begin up to some hours before they are issued. */
const maxBackdatingMs = 24 * hourMs;

export interface CertificateTimes {
  readonly expiresAtMs: number;
  /** Time to order the next one. The same at each reading of a certificate. */
  readonly renewAtMs: number;
}

export interface RenewalWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Renews when the certificate authority suggests it, or after two thirds of the lifetime.
 * @param cert PEM
 */
export function certificateTimes(cert: string, renewal?: AcmeRenewal): CertificateTimes {
  const { startMs, expiresAtMs } = lifetimeOf(cert);
  const random = createHash('sha256').update(cert).digest().readUInt16BE() / 0xffff;
  const share = renewalShare - random * jitterShare;
  const usual = startMs + (expiresAtMs - startMs) * share;
  const isSuggested = renewal?.renewAtMs !== undefined && renewal.certificateId === certificateId(cert);
  return { expiresAtMs, renewAtMs: isSuggested ? renewal.renewAtMs : usual };
}

/**
 * Chooses a random time within the window that a certificate authority suggests. A window in the past means now.
 * Undefined for a window that cannot be meant for this certificate.
 * @param cert PEM
 * @param obtainedAtMs by the clock of this machine; undefined when it is not known
 * **Source**: RFC 9773, 4.2
 */
export function chooseRenewalTime(
  cert: string,
  { startMs: windowStartMs, endMs: windowEndMs }: RenewalWindow,
  obtainedAtMs?: number,
  random = Math.random(),
): number | undefined {
  const { startMs, expiresAtMs } = lifetimeOf(cert);
  const lifetimeMs = expiresAtMs - startMs;
  const bornAtMs = Math.max(startMs, obtainedAtMs ?? startMs);
  const earliestMs = bornAtMs + Math.min(minAgeMs, lifetimeMs * reserveShare);
  const latestMs = expiresAtMs - lifetimeMs * reserveShare;
  if (windowEndMs <= windowStartMs) return undefined;
  if (windowEndMs < startMs - maxBackdatingMs || windowStartMs > latestMs) return undefined;
  const [fromMs, toMs] = [windowStartMs, windowEndMs].map(atMs =>
    Math.min(Math.max(atMs, earliestMs), latestMs),
  ) as [number, number];
  return fromMs + (toMs - fromMs) * random;
}

function lifetimeOf(cert: string): { readonly startMs: number; readonly expiresAtMs: number } {
  const { validFrom, validTo } = new X509Certificate(cert);
  return { startMs: Date.parse(validFrom), expiresAtMs: Date.parse(validTo) };
}
