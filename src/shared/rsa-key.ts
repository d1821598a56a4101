import type { KeyObject } from 'node:crypto';

export const minRsaBits = 2048;
const maxRsaBits = 4096;
/** **Source**: FIPS 186-5, 5.1 */
const minPublicExponent = 65_537n;
/** Largest public exponent: larger ones would make each check of a signature slow. */
const maxPublicExponent = 0xffff_ffffn;

/** Returns why an RSA key is too weak, or too slow. */
export function rsaProblem({ asymmetricKeyDetails: details = {} }: KeyObject): string | undefined {
  const { modulusLength: bits = 0, publicExponent = 0n } = details;
  if (bits < minRsaBits || bits > maxRsaBits) {
    return `This RSA key has ${bits} bits. Use one with ${minRsaBits} to ${maxRsaBits} bits.`;
  }
  if (publicExponent > maxPublicExponent) return 'This RSA key has a very large exponent. Use 65537.';
  if (publicExponent < minPublicExponent || publicExponent % 2n === 0n) {
    return `This RSA key has the exponent ${publicExponent}, which makes forged signatures easier. Create a key with the exponent 65537.`;
  }
  return undefined;
}
