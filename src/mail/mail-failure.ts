import { messageOf } from '../shared/errors.ts';

interface MailFailure {
  /** Text for the people who requested the mail. */
  readonly text: string;
  /** The mail server says that another attempt would fail, too. */
  readonly isPermanent: boolean;
}

interface SmtpError {
  readonly code?: unknown;
  readonly response?: unknown;
  readonly responseCode?: unknown;
}

const maxResponseLength = 200;
const unreachableCodes = new Set(['ECONNECTION', 'ESOCKET', 'ETIMEDOUT', 'EDNS', 'ECONNREFUSED']);

/** RFC 5321 4.2.1: a reply with 5yz is permanent. */
export function mailFailureOf(error: unknown): MailFailure {
  const { code, response, responseCode } = (error ?? {}) as SmtpError;
  const isPermanent = typeof responseCode === 'number' && responseCode >= 500;
  if (code === 'EAUTH') {
    return { text: 'The mail server refused the user name or the password of this server.', isPermanent };
  }
  if (typeof response === 'string') {
    const line = response
      .replace(/\p{Cc}+/gu, ' ')
      .slice(0, maxResponseLength)
      .toWellFormed();
    return { text: `The mail server refused the email: ${line}`, isPermanent };
  }
  if (typeof code === 'string' && unreachableCodes.has(code)) {
    return { text: 'The mail server could not be reached.', isPermanent };
  }
  return {
    text: `The email could not be sent: ${messageOf(error).slice(0, maxResponseLength)}`,
    isPermanent,
  };
}
