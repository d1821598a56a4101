import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { createSocket, type RemoteInfo } from 'node:dgram';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createDtlsCertificate, fingerprintOf } from '../../src/webrtc/dtls/dtls-certificate.ts';
import { DtlsServer, type SrtpSecrets } from '../../src/webrtc/dtls/dtls-server.ts';
import { Random } from '../support/random.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The certificate of the client. */
const client = createDtlsCertificate(Date.now());

/** Connects `openssl s_client` to a server of ours. */
async function connect(
  options: {
    profile?: string;
    groups?: string;
    fingerprint?: string;
    /** Called for each datagram on its way; true loses it. */
    isLost?: (datagram: Buffer) => boolean;
    change?: (datagram: Buffer) => Buffer;
  } = {},
) {
  const folder = await makeTempDir();
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await writeFile(key, client.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(certificate, new X509Certificate(client.der).toString());

  const { isLost = () => false, change = datagram => datagram } = options;
  const socket = createSocket('udp4');
  let peer: RemoteInfo | undefined;
  const state: { secrets?: SrtpSecrets; closed?: string; datagrams: number } = { datagrams: 0 };
  const server = new DtlsServer({
    certificate: createDtlsCertificate(Date.now()),
    fingerprints: [{ hash: 'sha256', value: options.fingerprint ?? client.fingerprint }],
    send: datagram => {
      if (peer !== undefined && !isLost(datagram)) socket.send(datagram, peer.port, peer.address);
    },
    connected: secrets => {
      state.secrets = secrets;
    },
    closed: (reason, detail) => {
      state.closed = `${reason}: ${detail}`;
    },
  });
  socket.on('message', (datagram, from) => {
    peer = from;
    state.datagrams += 1;
    if (!isLost(datagram)) server.receive(change(datagram));
  });
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve));

  const child = spawn('openssl', [
    ...['s_client', '-dtls1_2', '-connect', `127.0.0.1:${socket.address().port}`, '-mtu', '1200'],
    ...['-cert', certificate, '-key', key, '-use_srtp', options.profile ?? 'SRTP_AEAD_AES_128_GCM'],
    ...['-groups', options.groups ?? 'X25519:P-256'],
    ...['-keymatexport', 'EXTRACTOR-dtls_srtp', '-keymatexportlen', '60'],
  ]);
  let output = '';
  child.stdout.on('data', text => (output += text));
  child.stderr.on('data', text => (output += text));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    server.close();
    socket.close();
    await removeDir(folder);
  });
  return { state, server, child, output: () => output };
}

test.each([
  ['SRTP_AEAD_AES_128_GCM', 'X25519:P-256'],
  ['SRTP_AES128_CM_SHA1_80', 'P-256'],
])('OpenSSL agrees with us on the keys of %s over %s', async (profile, groups) => {
  const { state, child, output } = await connect({ profile, groups });
  await waitUntil(() => state.secrets, { what: output });
  const exported = await waitUntil(() => /Keying material: ([0-9A-F]+)/.exec(output())?.[1], {
    what: output,
  });
  const { client: ours, server: theirs } = state.secrets!;
  const keys = Buffer.concat([ours.key, theirs.key, ours.salt, theirs.salt]).toString('hex').toUpperCase();
  expect(exported.slice(0, keys.length)).toBe(keys);
  expect(output()).toContain(`SRTP Extension negotiated, profile=${profile}`);
  child.stdin.write('Q\n');
  await waitUntil(() => state.closed, { what: output });
  expect(state.closed).toContain('peer-closed');
});

test('the handshake succeeds while a third of all datagrams is lost', async () => {
  const random = new Random(4);
  const { state, output } = await connect({ isLost: () => random.below(3) === 0 });
  await waitUntil(() => state.secrets, { what: output });
  await waitUntil(() => /Keying material: ([0-9A-F]+)/.exec(output())?.[1], { what: output });
});

test('a client with another certificate than that of its SDP is refused', async () => {
  const fingerprint = fingerprintOf('sha256', createDtlsCertificate(Date.now()).der);
  const { state, output } = await connect({ fingerprint });
  await waitUntil(() => state.closed, { what: output });
  expect(state.closed).toContain('does not have the fingerprint of its SDP');
  expect(state.secrets).toBeUndefined();
});

test.each([
  [15, 'does not have the key of its certificate'],
  [20, ''],
])('a client whose message %i was changed is refused', async (type, problem) => {
  const { state, output } = await connect({
    change: datagram => {
      const changed = Buffer.from(datagram);
      for (let at = 0; at + 13 < changed.length; at += 13 + changed.readUInt16BE(at + 11)) {
        const isEncrypted = changed.readUInt16BE(at + 3) === 1;
        const isType =
          type === 20 ? isEncrypted : !isEncrypted && changed[at] === 22 && changed[at + 13] === type;
        if (isType) changed[at + 13 + changed.readUInt16BE(at + 11) - 1]! ^= 1;
      }
      return changed;
    },
  });
  if (problem !== '') await waitUntil(() => state.closed, { what: output });
  // The client sends its flight again and again.
  else await waitUntil(() => state.datagrams > 6, { what: output });
  expect(state.closed ?? '').toContain(problem);
  expect(state.secrets).toBeUndefined();
});

test('random and truncated datagrams end the handshake at most', async () => {
  const random = new Random(9);
  for (let round = 0; round < 300; round++) {
    let closed = 0;
    const server = new DtlsServer({
      certificate: client,
      fingerprints: [],
      send: () => {},
      connected: () => expect.unreachable(),
      closed: () => (closed += 1),
    });
    for (let each = 0; each < 5; each++) {
      const body = random.bytes(random.below(60));
      const head = Buffer.from([
        20 + random.below(4),
        0xfe,
        0xfd,
        0,
        random.below(2),
        0,
        0,
        0,
        0,
        0,
        each,
        0,
        0,
      ]);
      head.writeUInt16BE(body.length, 11);
      server.receive(random.below(2) === 0 ? Buffer.concat([head, body]) : random.bytes(random.below(40)));
    }
    server.close();
    expect(closed).toBeLessThanOrEqual(1);
  }
});
