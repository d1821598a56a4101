import { expect, test } from 'vitest';
import { certificateTimes } from '../../../src/certificates/renewal.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

const dayMs = 86_400_000;

test('a certificate is renewed after about two thirds of its lifetime, at a time of its own', () => {
  const certificates = Array.from({ length: 20 }, () => makeSelfSigned('a.example').cert);
  const times = certificates.map(certificateTimes);
  // The certificates are valid from a day before until a day after now.
  for (const { expiresAtMs, renewAtMs } of times) {
    const share = 1 - (expiresAtMs - renewAtMs) / (2 * dayMs);
    expect(share).toBeLessThanOrEqual(2 / 3);
    expect(share).toBeGreaterThan(0.61);
  }
  expect(new Set(times.map(({ expiresAtMs, renewAtMs }) => expiresAtMs - renewAtMs)).size).toBeGreaterThan(
    15,
  );
  expect(certificates.map(certificateTimes)).toEqual(times);
});
