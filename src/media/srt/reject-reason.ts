/**
 * Reasons that a handshake is rejected for: those of the protocol (section 4.3, Table 7), then those of access control
 * with the numbers of HTTP, see "SRT Access Control" of libsrt.
 */
export const REJECT = {
  unknown: 0,
  rogue: 4,
  version: 8,
  badSecret: 10,
  unsecure: 11,
  messageApi: 12,
  badRequest: 1400,
  unauthorized: 1401,
  overload: 1402,
  forbidden: 1403,
  notFound: 1404,
  badMode: 1405,
  conflict: 1409,
  internal: 1500,
  down: 1503,
} as const;

export type RejectReason = (typeof REJECT)[keyof typeof REJECT];

const firstRejection = 1_000;
/** Largest rejection code, including those that applications choose. */
const lastRejection = 1_000 + 2_999;

export function rejectionType(reason: RejectReason): number {
  return firstRejection + reason;
}

/** @param type of a handshake @returns undefined when it is no rejection */
export function rejectedWith(type: number): number | undefined {
  return type >= firstRejection && type <= lastRejection ? type - firstRejection : undefined;
}

const texts: Readonly<Record<number, string>> = {
  [REJECT.version]: 'its version of SRT is too old',
  [REJECT.badSecret]: 'the stream key or the passphrase is wrong',
  [REJECT.unsecure]: 'one side uses a passphrase, and the other does not',
  [REJECT.badRequest]: 'the stream ID is not valid',
  [REJECT.unauthorized]: 'the stream ID is not authorized',
  [REJECT.overload]: 'it is overloaded',
  [REJECT.forbidden]: 'access is forbidden',
  [REJECT.notFound]: 'the stream ID is not known',
  [REJECT.badMode]: 'it does not receive this stream ID',
  [REJECT.conflict]: 'somebody else publishes with this stream ID',
  [REJECT.down]: 'it is out of service',
};

/** Completes "The server refused the connection: …". */
export function describeRejection(reason: number): string {
  return texts[reason] ?? `SRT reason ${reason}`;
}
