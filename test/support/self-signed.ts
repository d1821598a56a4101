import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate and its key, both PEM. */
export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}

const ecdsaWithSha256 = Buffer.from('300a06082a8648ce3d040302', 'hex');
const commonName = Buffer.from('550403', 'hex');
const authorityKeyIdentifier = Buffer.from('551d23', 'hex');

/** Makes a new self-signed certificate for `name`, valid from a day ago until tomorrow. */
export function makeSelfSigned(name: string, { authorityKey }: { authorityKey?: Buffer } = {}): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const attribute = der(0x30, der(0x06, commonName), der(0x0c, Buffer.from(name)));
  const subject = der(0x30, der(0x31, attribute));
  const dayMs = 86_400_000;
  const validity = der(0x30, utcTime(Date.now() - dayMs), utcTime(Date.now() + dayMs));
  const toSign = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    subject,
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(authorityKey === undefined ? [] : [extensions(authorityKey)]),
  );
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', toSign, privateKey)]));
  const base64 = der(0x30, toSign, ecdsaWithSha256, signature).toString('base64');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)!.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function extensions(authorityKey: Buffer): Buffer {
  const value = der(0x04, der(0x30, der(0x80, authorityKey)));
  return der(0xa3, der(0x30, der(0x30, der(0x06, authorityKeyIdentifier), value)));
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head =
    length < 128
      ? [tag, length]
      : length < 256
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

function utcTime(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}
