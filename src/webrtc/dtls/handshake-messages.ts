import { ByteReader, uint, vector } from './byte-reader.ts';

/** RFC 5246, 7.4. */
export const HANDSHAKE = {
  clientHello: 1,
  serverHello: 2,
  certificate: 11,
  serverKeyExchange: 12,
  certificateRequest: 13,
  serverHelloDone: 14,
  certificateVerify: 15,
  clientKeyExchange: 16,
  finished: 20,
} as const;

export const DTLS_1_2 = 0xfefd;
/** TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, which all peers have. RFC 8827, 6.5. */
const CIPHER_SUITE = 0xc02b;
const EXTENSION = {
  supportedGroups: 10,
  pointFormats: 11,
  signatureAlgorithms: 13,
  useSrtp: 14,
  extendedMasterSecret: 23,
  renegotiationInfo: 0xff01,
} as const;
const RENEGOTIATION_SCSV = 0x00ff;
const NAMED_CURVE = 3;
export const GROUP = { p256: 23, x25519: 29 } as const;
export type Group = (typeof GROUP)[keyof typeof GROUP];
const ECDSA_SHA256 = 0x0403;
/** ECDSA with SHA-256, -384 and -512, RSA-PSS and RSA with SHA-256. */
const acceptedSignatures = [ECDSA_SHA256, 0x0503, 0x0603, 0x0804, 0x0401];

/** SRTP profiles in our order of preference. RFC 7714, 14.2; RFC 5764, 4.1.2. */
export const SRTP_PROFILE = { aeadAes128Gcm: 0x0007, aes128CmSha1Tag80: 0x0001 } as const;
export type SrtpProfile = (typeof SRTP_PROFILE)[keyof typeof SRTP_PROFILE];

interface ClientHello {
  readonly random: Buffer;
  readonly group: Group;
  readonly srtpProfile: SrtpProfile;
  readonly announcesRenegotiation: boolean;
}

/** A text tells what the client lacks. Throws a `RangeError` for a truncated message. */
export function readClientHello(body: Buffer): ClientHello | string {
  const reader = new ByteReader(body);
  const version = reader.uint(2);
  const random = reader.bytes(32);
  reader.vector(1); // session
  reader.vector(1); // cookie
  const suites = reader.list();
  reader.vector(1); // compression
  const extensions = readExtensions(reader);
  const find = (type: number) => {
    const value = extensions.get(type);
    return value && new ByteReader(value);
  };
  const groups = find(EXTENSION.supportedGroups)?.list() ?? [];
  const group = groups.find(each => each === GROUP.x25519 || each === GROUP.p256);
  const profiles = find(EXTENSION.useSrtp)?.list() ?? [];
  const srtpProfile = Object.values(SRTP_PROFILE).find(each => profiles.includes(each));
  const signatures = find(EXTENSION.signatureAlgorithms)?.list() ?? [];
  // Versions of DTLS count down.
  if (version > DTLS_1_2) return 'DTLS 1.2';
  if (!suites.includes(CIPHER_SUITE)) return 'the cipher suite ECDHE-ECDSA-AES128-GCM-SHA256';
  if (group === undefined) return 'the groups X25519 and P-256';
  if (!signatures.includes(ECDSA_SHA256)) return 'signatures with ECDSA and SHA-256';
  if (!extensions.has(EXTENSION.extendedMasterSecret)) return 'the extended master secret';
  if (srtpProfile === undefined) return 'an SRTP profile with AES-128';
  const announcesRenegotiation =
    suites.includes(RENEGOTIATION_SCSV) || extensions.has(EXTENSION.renegotiationInfo);
  return { random, group, srtpProfile, announcesRenegotiation };
}

function readExtensions(reader: ByteReader): Map<number, Buffer> {
  const extensions = new Map<number, Buffer>();
  if (reader.left === 0) return extensions;
  const list = new ByteReader(reader.vector(2));
  while (list.left > 0) extensions.set(list.uint(2), list.vector(2));
  return extensions;
}

export function writeServerHello(random: Buffer, hello: ClientHello): Buffer {
  const extensions = [
    extension(EXTENSION.extendedMasterSecret, Buffer.alloc(0)),
    extension(EXTENSION.pointFormats, Buffer.from([1, 0])),
    extension(EXTENSION.useSrtp, vector(2, uint(2, hello.srtpProfile)), Buffer.from([0])),
  ];
  if (hello.announcesRenegotiation) extensions.push(extension(EXTENSION.renegotiationInfo, Buffer.from([0])));
  return Buffer.concat([
    uint(2, DTLS_1_2),
    random,
    vector(1), // session
    uint(2, CIPHER_SUITE),
    Buffer.from([0]), // compression
    vector(2, ...extensions),
  ]);
}

export function writeCertificate(der: Buffer): Buffer {
  return vector(3, vector(3, der));
}

/** The part that is signed. */
export function writeKeyExchangeParameters(group: Group, publicKey: Buffer): Buffer {
  return Buffer.concat([uint(1, NAMED_CURVE), uint(2, group), vector(1, publicKey)]);
}

export function writeServerKeyExchange(parameters: Buffer, signature: Buffer): Buffer {
  return Buffer.concat([parameters, uint(2, ECDSA_SHA256), vector(2, signature)]);
}

export function writeCertificateRequest(): Buffer {
  const [ecdsaSign, rsaSign] = [64, 1];
  return Buffer.concat([
    vector(1, Buffer.from([ecdsaSign, rsaSign])),
    vector(2, ...acceptedSignatures.map(each => uint(2, each))),
    vector(2), // authorities
  ]);
}

/** The client's own certificate; undefined when it sent none. */
export function readCertificate(body: Buffer): Buffer | undefined {
  const list = new ByteReader(new ByteReader(body).vector(3));
  return list.left === 0 ? undefined : list.vector(3);
}

export function readClientKeyExchange(body: Buffer): Buffer {
  return new ByteReader(body).vector(1);
}

interface CertificateVerify {
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  readonly isPss: boolean;
  readonly signature: Buffer;
}

/** Undefined for algorithms that were not offered. */
export function readCertificateVerify(body: Buffer): CertificateVerify | undefined {
  const reader = new ByteReader(body);
  const algorithm = reader.uint(2);
  const signature = reader.vector(2);
  if (!acceptedSignatures.includes(algorithm)) return undefined;
  const hash = algorithm === 0x0503 ? 'sha384' : algorithm === 0x0603 ? 'sha512' : 'sha256';
  return { hash, isPss: algorithm === 0x0804, signature };
}

function extension(type: number, ...contents: readonly Buffer[]): Buffer {
  return Buffer.concat([uint(2, type), vector(2, ...contents)]);
}
