/** Code for Node that tells requests of this server from those of others. */
export const verifySample = [
  "import { createHmac, timingSafeEqual } from 'node:crypto';",
  '',
  "const sign = (secret, text) => createHmac('sha256', secret).update(text).digest('hex');",
  'const equal = (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));',
  '',
  '// body: the text of the request as it came, before it is parsed',
  'export function isGenuine(headers, body, secret) {',
  "  if (!equal(String(headers['x-api-video-signature']), sign(secret, body))) return false;",
  '  // Refuses what somebody recorded and sends again, more than five minutes later:',
  "  const [, t, v1] = /^t=(\\d+),v1=([0-9a-f]{64})$/.exec(headers['millrace-signature']) ?? [];",
  '  if (t === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;',
  "  return equal(v1, sign(secret, t + '.' + body));",
  '}',
].join('\n');
