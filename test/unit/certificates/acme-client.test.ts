import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Order } from 'acme-client';
import { expect, onTestFinished, test } from 'vitest';
import { withAcmeClient } from '../../../src/certificates/acme-client.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { testTempDir } from '../../support/temp-dir.ts';

test('an order with many authorizations opens few connections at once', async () => {
  const { cert, key } = makeSelfSigned('localhost');
  const caFile = join(await testTempDir(), 'ca.pem');
  await writeFile(caFile, cert);
  let open = 0;
  let maxOpen = 0;
  const authority = createServer({ cert, key }, (request, response) => {
    response.setHeader('Replay-Nonce', 'nonce');
    request.resume();
    response.end(JSON.stringify({ newNonce: `${base}/nonce`, status: 'valid' }));
  });
  authority.on('connection', socket => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    socket.once('close', () => {
      open -= 1;
    });
  });
  authority.listen(0, '127.0.0.1');
  await once(authority, 'listening');
  onTestFinished(() => void authority.close());
  const base = `https://localhost:${(authority.address() as AddressInfo).port}`;
  const account = {
    key: generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString(),
    url: `${base}/account`,
  };
  const order = {
    url: `${base}/order`,
    authorizations: Array.from({ length: 50 }, (_, index) => `${base}/${index}`),
  } as Order;
  const { signal } = new AbortController();
  const found = await withAcmeClient({ directory: `${base}/dir`, caFile, account, signal }, client =>
    client.getAuthorizations(order),
  );
  expect(found).toHaveLength(50);
  expect(maxOpen).toBeLessThan(40);
});
