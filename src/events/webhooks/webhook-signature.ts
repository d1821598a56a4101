import { createHmac } from 'node:crypto';

/** @param secret with its prefix @returns lower-case hexadecimal HMAC-SHA256 */
export function signBody(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** Covers the time of the attempt, against replayed requests. @param atSeconds Unix time */
export function signBodyWithTimestamp(secret: string, body: string, atSeconds: number): string {
  return `t=${atSeconds},v1=${signBody(secret, `${atSeconds}.${body}`)}`;
}
