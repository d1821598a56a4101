import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { CONTENT, RecordLayer } from '../../../src/webrtc/dtls/record-layer.ts';

const keys = {
  clientKey: randomBytes(16),
  serverKey: randomBytes(16),
  clientSalt: randomBytes(4),
  serverSalt: randomBytes(4),
};

function createClient(): RecordLayer {
  const client = new RecordLayer();
  const { clientKey, serverKey, clientSalt, serverSalt } = keys;
  client.useKeys({
    clientKey: serverKey,
    serverKey: clientKey,
    clientSalt: serverSalt,
    serverSalt: clientSalt,
  });
  return client;
}

test('records behind the one that brings the keys are opened, also in one datagram', () => {
  const client = createClient();
  const plain = client.write(CONTENT.handshake, 0, Buffer.from('keys'));
  const sealed = client.write(CONTENT.handshake, 1, Buffer.from('finished'));
  const server = new RecordLayer();
  const read: string[] = [];
  for (const { epoch, body } of server.read(Buffer.concat([plain, sealed]))) {
    read.push(`${epoch} ${body}`);
    server.useKeys(keys);
  }
  expect(read).toEqual(['0 keys', '1 finished']);
});

test('a record is opened once, and not at all when it was changed', () => {
  const server = new RecordLayer();
  server.useKeys(keys);
  const sealed = createClient().write(CONTENT.alert, 1, Buffer.from([1, 0]));
  const changed = Buffer.from(sealed);
  changed[20] = changed[20]! ^ 1;
  expect([...server.read(changed)]).toEqual([]);
  expect([...server.read(sealed)]).toHaveLength(1);
  expect([...server.read(sealed)]).toEqual([]);
});
