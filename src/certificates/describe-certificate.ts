import type { AcmeRecords } from './acme.store.ts';
import type { CertificateTimes } from './renewal.ts';

interface CertificateFailure {
  /** The reason, and what to do. */
  readonly reason: string;
  /** Domains that the current certificate lacks. */
  readonly uncoveredDomains: readonly string[];
  readonly retryAtMs: number;
}

export interface CertificateView {
  readonly domains: readonly string[];
  readonly state: 'missing' | 'valid' | 'expired';
  readonly expiresAtMs?: number | undefined;
  readonly renewAtMs?: number | undefined;
  /** The reason why the last order failed, its consequence, and what to do. Undefined while all is well. */
  readonly problem?: string | undefined;
  /** Undefined while all is well. */
  readonly failure?: CertificateFailure | undefined;
}

export function describeCertificate(
  { certificate, failure }: AcmeRecords,
  times: CertificateTimes | undefined,
  { domains, nowMs }: { readonly domains: readonly string[]; readonly nowMs: number },
): CertificateView {
  const isExpired = times !== undefined && times.expiresAtMs <= nowMs;
  const state = times === undefined ? 'missing' : isExpired ? 'expired' : 'valid';
  const names = domains.join(', ');
  const uncovered =
    certificate === undefined ? [] : domains.filter(domain => !certificate.domains.includes(domain));
  const consequence = {
    missing: `There is no certificate for ${names} yet: HTTPS and RTMPS refuse connections, HTTP works.`,
    valid: `The server could not get a new certificate for ${names}. The current one is valid until ${formatTime(times?.expiresAtMs)}${uncovered.length === 0 ? '' : `, but not for ${uncovered.join(', ')}, where only HTTP works`}.`,
    expired: `The certificate for ${names} expired at ${formatTime(times?.expiresAtMs)}, so browsers and encoders warn or refuse.`,
  }[state];
  return {
    domains,
    state,
    expiresAtMs: times?.expiresAtMs,
    renewAtMs: times?.renewAtMs,
    problem:
      failure &&
      `${consequence} ${failure.problem} The server tries again at ${formatTime(failure.retryAtMs)}.`,
    failure: failure && {
      reason: failure.problem,
      uncoveredDomains: uncovered,
      retryAtMs: failure.retryAtMs,
    },
  };
}

function formatTime(atMs = 0): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
