import { createHash, X509Certificate } from 'node:crypto';

const renewalShare = 2 / 3;
/** Spreads the renewals of servers that were started together. */
const jitterShare = 1 / 20;

export interface CertificateTimes {
  readonly expiresAtMs: number;
  /** Time to order the next one. The same at each reading of a certificate. */
  readonly renewAtMs: number;
}

/** @param cert PEM */
export function certificateTimes(cert: string): CertificateTimes {
  const { validFrom, validTo } = new X509Certificate(cert);
  const [startMs, expiresAtMs] = [Date.parse(validFrom), Date.parse(validTo)];
  const random = createHash('sha256').update(cert).digest().readUInt16BE() / 0xffff;
  const share = renewalShare - random * jitterShare;
  return { expiresAtMs, renewAtMs: startMs + (expiresAtMs - startMs) * share };
}
