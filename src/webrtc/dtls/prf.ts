import { createHmac } from 'node:crypto';

/** P_SHA256, the pseudorandom function of TLS 1.2. RFC 5246, 5. */
export function prf(secret: Buffer, label: string, seed: Buffer, bytes: number): Buffer {
  const labelAndSeed = Buffer.concat([Buffer.from(label, 'latin1'), seed]);
  const output = Buffer.alloc(bytes);
  let block: Buffer = labelAndSeed;
  for (let at = 0; at < bytes; at += 32) {
    block = hmac(secret, block);
    hmac(secret, Buffer.concat([block, labelAndSeed])).copy(output, at);
  }
  return output;
}

function hmac(secret: Buffer, data: Buffer): Buffer {
  return createHmac('sha256', secret).update(data).digest();
}
