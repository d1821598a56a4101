import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Self-signed; peers check its fingerprint, which they have from the SDP. RFC 8827, 6.5. */
export interface DtlsCertificate {
  readonly privateKey: KeyObject;
  readonly der: Buffer;
  /** SHA-256, as in `a=fingerprint`. */
  readonly fingerprint: string;
}

/** ASN.1 tags. X.690, 8. */
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const UTF8_STRING = 0x0c;
const SEQUENCE = 0x30;
const SET = 0x31;
const UTC_TIME = 0x17;
/** Object identifiers 1.2.840.10045.4.3.2 and 2.5.4.3. */
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const dayMs = 86_400_000;
const validDays = 365;

/** Creates an ECDSA P-256 certificate. RFC 5280, 4.1. */
export function createDtlsCertificate(nowMs: number): DtlsCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const commonName = der(UTF8_STRING, Buffer.from('WebRTC'));
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, commonName)));
  const serial = randomBytes(16);
  // Positive, in its shortest form.
  serial[0] = (serial[0]! & 0x3f) | 0x40;
  const toSign = der(
    SEQUENCE,
    der(INTEGER, serial),
    algorithm,
    name,
    der(SEQUENCE, utcTime(nowMs - dayMs), utcTime(nowMs + validDays * dayMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('sha256', toSign, privateKey);
  const bytes = der(SEQUENCE, toSign, algorithm, der(BIT_STRING, Buffer.from([0]), signature));
  return { privateKey, der: bytes, fingerprint: fingerprintOf('sha256', bytes) };
}

/** Upper case, with colons. RFC 8122, 5. */
export function fingerprintOf(hash: string, certificate: Buffer): string {
  return createHash(hash)
    .update(certificate)
    .digest('hex')
    .toUpperCase()
    .replace(/..(?=.)/g, '$&:');
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const header =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
}

function utcTime(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`;
  return der(UTC_TIME, Buffer.from(text));
}
