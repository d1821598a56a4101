import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SigningKeysStore } from '../../src/resources/playback/signing-keys/signing-keys.store.ts';
import { rowsOf } from '../support/sql.ts';
import { productionKey, startApi, type TestApi } from '../support/start-api.ts';

const path = '/account/signing-keys';

let server: TestApi;
beforeEach(async () => {
  server = await startApi({ isUpgraded: true });
});
afterEach(() => server.stop());

const create = (body: Record<string, unknown>, key?: string) => server.call('POST', path, { body, key });
const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

it('creates keys, shows the private one once, lists and revokes them', async () => {
  const kinds = { ES256: 'ec', EdDSA: 'ed25519', RS256: 'rsa' } as const;
  const ids: string[] = [];
  for (const [algorithm, kind] of Object.entries(kinds)) {
    const { status, json } = await create({ name: `Key for ${algorithm}`, algorithm });
    expect(status).toBe(201);
    expect(json.signingKeyId).toMatch(/^sk[0-9A-Za-z]{22}$/);
    expect(createPublicKey(createPrivateKey(json.privateKey)).asymmetricKeyType).toBe(kind);
    expect(pem(createPublicKey(json.privateKey))).toBe(json.publicKey);
    const { privateKey, ...shown } = json;
    expect((await server.call('GET', `${path}/${json.signingKeyId}`)).json).toEqual(shown);
    expect(JSON.stringify(await rowsOf(server.database, 'SELECT * FROM signing_keys'))).not.toContain(
      'PRIVATE',
    );
    ids.push(json.signingKeyId);
  }
  const listed = (await server.call('GET', `${path}?sortOrder=asc&pageSize=2`)).json;
  expect(listed.data).toHaveLength(2);
  expect(listed.pagination.itemsTotal).toBe(3);
  expect((await create({ name: 'Default' })).json.algorithm).toBe('ES256');

  const store = new SigningKeysStore(server.database);
  expect(await store.findForVerification(ids[0]!)).toMatchObject({ algorithm: 'ES256' });
  expect((await server.call('DELETE', `${path}/${ids[0]}`)).status).toBe(204);
  expect(await store.findForVerification(ids[0]!)).toBeUndefined();
  for (const method of ['GET', 'DELETE'] as const) {
    expect((await server.call(method, `${path}/${ids[0]}`)).status).toBe(404);
  }
});

it('belongs to one environment', async () => {
  const { json } = await create({ name: 'Sandbox' });
  expect((await server.call('GET', `${path}/${json.signingKeyId}`, { key: productionKey })).status).toBe(404);
  expect((await server.call('DELETE', `${path}/${json.signingKeyId}`, { key: productionKey })).status).toBe(
    404,
  );
  expect((await server.call('GET', path, { key: productionKey })).json.data).toEqual([]);
});

it('takes a public key as PEM or JSON Web Key, and returns no private one', async () => {
  const pairs = [
    [generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'ES256'],
    [generateKeyPairSync('ed25519'), 'EdDSA'],
    [generateKeyPairSync('rsa', { modulusLength: 2048 }), 'RS256'],
  ] as const;
  for (const [{ publicKey }, algorithm] of pairs) {
    for (const given of [pem(publicKey), publicKey.export({ format: 'jwk' })]) {
      const { status, json } = await create({ name: 'Own', publicKey: given });
      expect([status, json.algorithm, json.publicKey]).toEqual([201, algorithm, pem(publicKey)]);
      expect(json).not.toHaveProperty('privateKey');
    }
  }
});

it('refuses keys that cannot be used', async () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cases: [unknown, string][] = [
    ['', 'publicKey'],
    ['no key', 'not a public key'],
    [{}, 'not a public key'],
    [{ kty: 'oct', k: 'c2VjcmV0' }, 'not a public key'],
    [{ kty: 'EC', crv: 'P-256', x: 1, y: [] }, 'not a public key'],
    [ec.privateKey.export({ type: 'pkcs8', format: 'pem' }), 'private key'],
    [ec.privateKey.export({ format: 'jwk' }), 'private key'],
    [pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey), 'type of key'],
    [pem(generateKeyPairSync('x25519').publicKey), 'type of key'],
    [pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey), '1024 bits'],
    [pem(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).publicKey), 'type of key'],
    [hugeExponent(), 'exponent'],
  ];
  for (const [publicKey, text] of cases) {
    const { status, text: answer } = await create({ name: 'Own', publicKey });
    expect([text, status]).toEqual([text, 400]);
    expect(answer).toContain(text);
  }
  const mismatch = await create({ name: 'Own', algorithm: 'RS256', publicKey: pem(ec.publicKey) });
  expect([mismatch.status, mismatch.json.name]).toEqual([400, 'algorithm']);
  for (const body of [
    {},
    { name: '' },
    { name: 'x', algorithm: 'HS256' },
    { name: 'x', algorithm: 'none' },
  ]) {
    expect((await create(body)).status).toBe(400);
  }
});

it('keeps 20 keys in each environment, also when many are created at once', async () => {
  const publicKey = pem(generateKeyPairSync('ed25519').publicKey);
  const answers = await Promise.all(Array.from({ length: 25 }, () => create({ name: 'Own', publicKey })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(answers.find(({ status }) => status !== 201)?.json.detail).toContain('20 signing keys');
  expect((await create({ name: 'Own', publicKey }, productionKey)).status).toBe(201);
});

function hugeExponent(): Record<string, unknown> {
  const jwk = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
  return { ...jwk, e: jwk.n };
}
