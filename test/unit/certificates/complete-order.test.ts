import { expect, test } from 'vitest';
import { completeOrder, type OrderContext } from '../../../src/certificates/complete-order.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';

const { cert, key } = makeSelfSigned('a.example');

function complete(chain: string) {
  const context = {
    client: { getOrder: async () => ({ status: 'valid' }), getCertificate: async () => chain },
    directory: 'https://authority.example/dir',
    domains: ['a.example'],
  } as unknown as OrderContext;
  return completeOrder(context, {
    directory: context.directory,
    domains: context.domains,
    url: 'https://authority.example/order/1',
    key,
    challengeType: 'http-01',
    challenges: [],
  });
}

test.each([
  ['a damaged issuer', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ['an issuer that was cut off', cert.slice(0, cert.length / 2)],
])('a certificate with %s, with which no listener can start, is refused', async (_, issuer) => {
  await expect(complete(cert + issuer)).rejects.toThrow('Its certificate cannot be used: it is damaged.');
  await expect(complete(cert + cert)).resolves.toMatchObject({ cert: cert + cert });
});
