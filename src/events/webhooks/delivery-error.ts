import { messageOf, systemCodeOf } from '../../shared/errors.ts';

/** Reasons for the failure of a request to a webhook, beside the status of its response. */
export const deliveryErrorCodes = [
  'timeout',
  'connection-refused',
  'connection-closed',
  'host-unreachable',
  'host-not-public',
  'dns-failed',
  'tls-failed',
  'response-invalid',
  'redirect',
  'canceled',
  'request-failed',
] as const;
export type DeliveryErrorCode = (typeof deliveryErrorCodes)[number];

/** A failure, for programs and for people. */
export interface DeliveryError<Code extends string = DeliveryErrorCode> {
  readonly code: Code;
  readonly text: string;
}

export const connectionClosed: DeliveryError = {
  code: 'connection-closed',
  text: 'The connection was closed before a response.',
};

const known: Readonly<Record<string, DeliveryError>> = {
  ECONNREFUSED: { code: 'connection-refused', text: 'The connection was refused.' },
  ECONNRESET: connectionClosed,
  EHOSTUNREACH: { code: 'host-unreachable', text: 'The host cannot be reached.' },
  ENETUNREACH: { code: 'host-unreachable', text: 'The network cannot be reached.' },
  ETIMEOUT: { code: 'dns-failed', text: 'The DNS server did not respond.' },
  ESERVFAIL: { code: 'dns-failed', text: 'The host name was not found in DNS.' },
  HPE_HEADER_OVERFLOW: { code: 'response-invalid', text: 'The response headers are too large.' },
};

/** Codes of Node.js for what its text says better. */
const kinds: readonly (readonly [systemCodes: RegExp, code: DeliveryErrorCode])[] = [
  [/^(?:EREFUSED|EFORMERR|ENOTIMP|EBADRESP|EAI_)/, 'dns-failed'],
  [
    /^(?:EPROTO$|ERR_SSL_|ERR_TLS_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/,
    'tls-failed',
  ],
  [/^HPE_/, 'response-invalid'],
];

const maxTextLength = 300;

/** Describes what a request, or the look-up of its host name, failed with. */
export function deliveryErrorOf(error: unknown): DeliveryError {
  const systemCode = systemCodeOf(error) ?? '';
  if (Object.hasOwn(known, systemCode)) return known[systemCode]!;
  return {
    code: kinds.find(([codes]) => codes.test(systemCode))?.[1] ?? 'request-failed',
    text: (messageOf(error) || systemCode || 'The request failed.').slice(0, maxTextLength),
  };
}
