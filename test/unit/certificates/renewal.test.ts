import { expect, test } from 'vitest';
import { certificateId } from '../../../src/certificates/certificate-id.ts';
import { certificateTimes, chooseRenewalTime } from '../../../src/certificates/renewal.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

const dayMs = 86_400_000;

test('a certificate is renewed after about two thirds of its lifetime, at a time of its own', () => {
  const certificates = Array.from({ length: 20 }, () => makeSelfSigned('a.example').cert);
  const times = certificates.map(cert => certificateTimes(cert));
  // The certificates are valid from a day before until a day after now.
  for (const { expiresAtMs, renewAtMs } of times) {
    const share = 1 - (expiresAtMs - renewAtMs) / (2 * dayMs);
    expect(share).toBeLessThanOrEqual(2 / 3);
    expect(share).toBeGreaterThan(0.61);
  }
  expect(new Set(times.map(({ expiresAtMs, renewAtMs }) => expiresAtMs - renewAtMs)).size).toBeGreaterThan(
    15,
  );
  expect(certificates.map(cert => certificateTimes(cert))).toEqual(times);
});

/** A certificate that is valid from a day before until a day after now. */
const { cert } = makeSelfSigned('a.example', { authorityKey: Buffer.from('key') });
const { expiresAtMs } = certificateTimes(cert);
const [startMs, reserveMs] = [expiresAtMs - 2 * dayMs, (2 * dayMs) / 10];
const choose = (fromMs: number, toMs: number, random: number) =>
  chooseRenewalTime(cert, { startMs: startMs + fromMs, endMs: startMs + toMs }, undefined, random);

test('a suggested window is used at a random time, with a reserve before the certificate ends', () => {
  const [fromMs, toMs] = [0.5 * dayMs, 0.75 * dayMs];
  const times = [0, 0.5, 1].map(random => choose(fromMs, toMs, random));
  expect(times).toEqual([startMs + fromMs, startMs + 0.625 * dayMs, startMs + toMs]);
  expect(choose(dayMs, 20 * dayMs, 1)).toBe(expiresAtMs - reserveMs);
});

test('a window that has passed means now, and a young certificate is kept for a while', () => {
  expect(choose(0.5 * dayMs, 0.6 * dayMs, 0)).toBeLessThan(Date.now());
  expect(choose(-0.5 * dayMs, 0.05 * dayMs, 0.3)).toBe(startMs + reserveMs);
});

test('a new certificate is kept for a while also when its authority dates it back, or the clock is fast', () => {
  const obtainedAtMs = startMs + 1.2 * dayMs;
  const window = { startMs, endMs: startMs + dayMs };
  expect(chooseRenewalTime(cert, window, obtainedAtMs)).toBe(obtainedAtMs + reserveMs);
  expect(chooseRenewalTime(cert, window, expiresAtMs)).toBe(expiresAtMs - reserveMs);
});

test.each([
  ['years ago', -1_000 * dayMs, -999 * dayMs],
  ['after the end', 3 * dayMs, 4 * dayMs],
  ['upside down', 1.2 * dayMs, dayMs],
  ['empty', dayMs, dayMs],
])('a window that cannot be meant is not used: %s', (_, fromMs, toMs) => {
  expect(choose(fromMs, toMs, 0.5)).toBeUndefined();
});

test('a suggestion for another certificate is not used', () => {
  const usual = certificateTimes(cert);
  const renewal = { certificateId: certificateId(cert)!, renewAtMs: 5, askAtMs: 0 };
  expect(certificateTimes(cert, renewal)).toEqual({ ...usual, renewAtMs: 5 });
  expect(certificateTimes(cert, { ...renewal, certificateId: 'other' })).toEqual(usual);
  expect(certificateTimes(cert, { ...renewal, renewAtMs: undefined })).toEqual(usual);
});
