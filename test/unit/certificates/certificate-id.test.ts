import { expect, test } from 'vitest';
import { certificateId } from '../../../src/certificates/certificate-id.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

/** **Source**: RFC 9773, appendix A */
const example = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`;

test('a certificate has the id that the RFC gives it', () => {
  expect(certificateId(example)).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
});

test('a certificate that names no key of its authority has none', () => {
  expect(certificateId(makeSelfSigned('a.example').cert)).toBeUndefined();
  const { cert } = makeSelfSigned('a.example', { authorityKey: Buffer.from('key') });
  expect(certificateId(cert)).toMatch(/^a2V5\.[\w-]+$/);
});
