import { createCipheriv } from 'node:crypto';

/** RFC 3711, 4.3.2. */
export const SRTP_LABEL = {
  rtpEncryption: 0,
  rtpAuthentication: 1,
  rtpSalt: 2,
  rtcpEncryption: 3,
  rtcpAuthentication: 4,
  rtcpSalt: 5,
} as const;

/** AES-CM key derivation with a rate of 0. RFC 3711, 4.3.3. @param salt 12 or 14 bytes */
export function deriveKey(masterKey: Buffer, salt: Buffer, label: number, bytes: number): Buffer {
  const iv = Buffer.alloc(16);
  salt.copy(iv);
  iv[7] = iv[7]! ^ label;
  return createCipheriv('aes-128-ctr', masterKey, iv).update(Buffer.alloc(bytes));
}
