import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { SRTP_PROFILE } from '../../../src/webrtc/dtls/handshake-messages.ts';
import { deriveKey, SRTP_LABEL } from '../../../src/webrtc/srtp/key-derivation.ts';
import { SrtpSession } from '../../../src/webrtc/srtp/srtp-session.ts';
import { Random } from '../../support/random.ts';
import { rtpPacket, sealRtp } from '../../support/rtp.ts';

test('keys are derived as RFC 3711 B.3 shows', () => {
  const key = Buffer.from('E1F97A0D3E018BE0D64FA32C06DE4139', 'hex');
  const salt = Buffer.from('0EC675AD498AFEEBB6960B3AABE6', 'hex');
  const derived = (label: number, bytes: number) => deriveKey(key, salt, label, bytes).toString('hex');
  expect(derived(SRTP_LABEL.rtpEncryption, 16)).toBe('c61e7a93744f39ee10734afe3ff7a087');
  expect(derived(SRTP_LABEL.rtpSalt, 14)).toBe('30cbbc08863d8c85d49db34a9ae1');
  expect(derived(SRTP_LABEL.rtpAuthentication, 20)).toBe('cebe321f6ff7716b6fd4ab49af256a156d38baa4');
});

/** Creates both ends of a connection. */
function pair(profile: (typeof SRTP_PROFILE)[keyof typeof SRTP_PROFILE]) {
  const saltBytes = profile === SRTP_PROFILE.aeadAes128Gcm ? 12 : 14;
  const keys = () => ({ key: randomBytes(16), salt: randomBytes(saltBytes) });
  const [client, server] = [keys(), keys()];
  return {
    server: new SrtpSession({ profile, client, server }),
    client: new SrtpSession({ profile, client: server, server: client }),
  };
}

describe.each(Object.entries(SRTP_PROFILE))('%s', (_, profile) => {
  test('packets arrive as they were sent, through wraps of the sequence number and in any order', () => {
    const { server, client } = pair(profile);
    const packets = [65_530, 65_533, 65_531, 3, 65_535, 1, 40_000, 7, 39_000].map(sequenceNumber =>
      rtpPacket({ sequenceNumber, payload: Buffer.from(`packet ${sequenceNumber}`), extension: true }),
    );
    // 40,000 comes before the wrap for both, since it is nearer to that side.
    for (const packet of packets.slice(0, 6)) {
      expect(server.openRtp(sealRtp(client, packet))).toEqual(packet);
    }
  });

  test('a packet is taken once, and not when it was changed', () => {
    const { server, client } = pair(profile);
    const sealed = sealRtp(client, rtpPacket({ sequenceNumber: 5 }));
    const changed = Buffer.from(sealed);
    changed[changed.length - 1]! ^= 1;
    expect(server.openRtp(changed)).toBeUndefined();
    expect(server.openRtp(sealed)).toBeDefined();
    expect(server.openRtp(sealed)).toBeUndefined();
  });

  test('reports arrive as they were sent, once', () => {
    const { server, client } = pair(profile);
    const report = Buffer.from('80c90001000000070000000800000009', 'hex');
    const sealed = client.sealRtcp(report);
    expect(sealed.includes(report.subarray(8))).toBe(false);
    expect(server.openRtcp(sealed)).toEqual(report);
    expect(server.openRtcp(sealed)).toBeUndefined();
  });

  test('random packets do no harm', () => {
    const { server, client } = pair(profile);
    const random = new Random(3);
    const sealed = sealRtp(client, rtpPacket({ sequenceNumber: 9 }));
    for (let round = 0; round < 2_000; round++) {
      const bytes = round % 2 === 0 ? random.bytes(random.below(64)) : Buffer.from(sealed);
      if (round % 2 === 1) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
      expect(server.openRtp(bytes)).toBeUndefined();
      expect(server.openRtcp(bytes)).toBeUndefined();
    }
    expect(server.openRtp(sealed)).toBeDefined();
  });
});
