import { createHmac } from 'node:crypto';

/**
 * The signature of a body.
 *
 * @param secret the whole secret of the webhook, with its prefix
 * @returns lower-case hexadecimal HMAC-SHA256
 */
export function signBody(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/**
 * The value of `Millrace-Signature`: it covers the time of the try, so that a receiver can refuse what is sent to it again much later.
 *
 * @param atSeconds since 1970, UTC
 */
export function signBodyWithTimestamp(secret: string, body: string, atSeconds: number): string {
  return `t=${atSeconds},v1=${signBody(secret, `${atSeconds}.${body}`)}`;
}
