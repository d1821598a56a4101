import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DtlsCertificate } from '../../src/webrtc/dtls/dtls-certificate.ts';
import type { SrtpSecrets } from '../../src/webrtc/dtls/dtls-server.ts';
import { SRTP_PROFILE } from '../../src/webrtc/dtls/handshake-messages.ts';

/** The client's side of a DTLS connection, whose datagrams its owner carries. */
export interface DtlsClient {
  /** Takes a datagram of the server. */
  receive(datagram: Buffer): void;
  /** Undefined until the handshake has ended. */
  secrets(): SrtpSecrets | undefined;
  close(): void;
}

/** Starts OpenSSL, which begins the handshake at once. @param folder for the key, removed by the caller */
export async function startDtlsClient(
  folder: string,
  certificate: DtlsCertificate,
  send: (datagram: Buffer) => void,
): Promise<DtlsClient> {
  const [key, chain] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  await writeFile(key, certificate.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(chain, new X509Certificate(certificate.der).toString());
  const relay = createSocket('udp4');
  await new Promise<void>(resolve => relay.bind(0, '127.0.0.1', resolve));
  const child = spawn(
    'openssl',
    [
      ...['s_client', '-dtls1_2', '-connect', `127.0.0.1:${relay.address().port}`, '-mtu', '1200'],
      ...['-cert', chain, '-key', key, '-use_srtp', 'SRTP_AEAD_AES_128_GCM'],
      ...['-keymatexport', 'EXTRACTOR-dtls_srtp', '-keymatexportlen', '56'],
    ],
    { stdio: ['pipe', 'pipe', 'ignore'] },
  );
  let output = '';
  let port: number | undefined;
  child.stdout.on('data', text => (output += text));
  relay.on('message', (datagram, from) => {
    port = from.port;
    send(datagram);
  });
  return {
    receive: datagram => {
      if (port !== undefined) relay.send(datagram, port, '127.0.0.1');
    },
    secrets: () => {
      const exported = /Keying material: ([0-9A-F]+)/.exec(output)?.[1];
      if (exported === undefined) return undefined;
      const bytes = Buffer.from(exported, 'hex');
      return {
        profile: SRTP_PROFILE.aeadAes128Gcm,
        client: { key: bytes.subarray(0, 16), salt: bytes.subarray(32, 44) },
        server: { key: bytes.subarray(16, 32), salt: bytes.subarray(44, 56) },
      };
    },
    close: () => {
      child.kill('SIGKILL');
      relay.close();
    },
  };
}
