import { X509Certificate } from 'node:crypto';

interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
}

const sequence = 0x30;
/** **Source**: RFC 5280, 4.1 */
const extensionsTag = 0xa3;
/** Object identifier 2.5.29.35. **Source**: RFC 5280, 4.2.1.1 */
const authorityKeyIdentifier = '551d23';
const keyIdentifierTag = 0x80;

/**
 * Identifies a certificate to its authority. Undefined for one that names no key of its authority.
 * @param cert PEM
 * **Source**: RFC 9773, 4.1
 */
export function certificateId(cert: string): string | undefined {
  const { raw, serialNumber } = new X509Certificate(cert);
  const keyIdentifier = findKeyIdentifier(raw);
  if (keyIdentifier === undefined) return undefined;
  const serial = Buffer.from(serialNumber, 'hex');
  // The DER encoding of a positive number never begins with a bit that is set.
  const bytes = serial[0]! >= 0x80 ? Buffer.concat([Buffer.alloc(1), serial]) : serial;
  return `${keyIdentifier.toString('base64url')}.${bytes.toString('base64url')}`;
}

function findKeyIdentifier(certificate: Buffer): Buffer | undefined {
  const body = contentOf(contentOf(certificate, sequence), sequence);
  for (const extension of readValues(contentOf(contentOf(body, extensionsTag), sequence))) {
    const [id, ...rest] = readValues(extension.content);
    // A flag may stand between the two.
    const value = rest.at(-1);
    if (id?.content.toString('hex') === authorityKeyIdentifier && value !== undefined)
      return contentOf(contentOf(value.content, sequence), keyIdentifierTag);
  }
  return undefined;
}

/** Returns the content of the first value with the tag among those of `bytes`. */
function contentOf(bytes: Buffer | undefined, tag: number): Buffer | undefined {
  return readValues(bytes).find(value => value.tag === tag)?.content;
}

/** Reads values one after the other, up to one that does not fit. Long tags are not in use here. **Source**: X.690, 8.1 */
function readValues(bytes: Buffer = Buffer.alloc(0)): DerValue[] {
  const values: DerValue[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const [tag, first] = [bytes[at]!, bytes[at + 1]!];
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + lengthBytes;
    if (lengthBytes > 3 || start > bytes.length) break;
    const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
    if (start + length > bytes.length) break;
    values.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return values;
}
