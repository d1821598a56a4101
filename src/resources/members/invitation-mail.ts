import { composeMail } from '../mail/compose-mail.ts';
import type { Mail } from '../mail/mailer.ts';
import type { Invitation } from './member.ts';

export interface InvitationMail {
  readonly invitation: Invitation;
  readonly url: string;
  /** The email address of the person who invites. */
  readonly inviterEmail: string;
  readonly accountName: string | undefined;
}

export function mailOf({ invitation, url, inviterEmail, accountName }: InvitationMail): Mail {
  const { email, role, expiresAtMs } = invitation;
  const team = accountName ?? inviterEmail;
  const until = new Date(expiresAtMs).toISOString().slice(0, 10);
  return composeMail({
    to: email,
    subject: `Invitation to ${team} on Millrace`,
    greeting: `${inviterEmail} invites you to “${team}” on Millrace, as ${role}.`,
    link: { words: 'Accept the invitation', url },
    advice: `The link works once, until ${until}. If you don’t expect this invitation, ignore this message.`,
  });
}
