import { composeMail } from '../../../mail/compose-mail.ts';
import type { Mail } from '../../../mail/mailer.ts';
import type { Session } from '../sessions/session.ts';
import type { Invitation } from './member.ts';

export interface InvitationMail {
  readonly invitation: Invitation;
  /** Link with the token, which is in no response of the API. */
  readonly url: string;
  /** The session of the person who invites, if it goes on. */
  readonly inviter: Session | undefined;
}

const maxNameLength = 40;

/**
 * Marks what the inviter has chosen: the mail comes from this server, and must not become a message of anybody.
 * @param publicUrl of the server
 */
export function mailOf({ invitation, url, inviter }: InvitationMail, publicUrl: string): Mail {
  const { email, role, expiresAtMs } = invitation;
  const name = harmlessName(inviter?.account.name ?? '');
  const inviterName =
    inviter === undefined
      ? 'A member'
      : `${inviter.email}${inviter.isVerified ? '' : ' (an unverified address)'}`;
  const until = new Date(expiresAtMs).toISOString().slice(0, 10);
  return composeMail({
    to: email,
    subject: 'Invitation to an account on Millrace',
    greeting: `${inviterName} invites you to join an account on Millrace at ${publicUrl}, as ${role === 'viewer' ? 'a' : 'an'} ${role}.${name === '' ? '' : ` The account calls itself “${name}”. This server does not check such names.`}`,
    link: { label: 'Accept the invitation', url },
    advice: `The link is for you only: it shows that ${email} is your address. It works once, until ${until}. If you weren’t expecting this invitation, ignore this message.`,
  });
}

/** Leaves nothing that mail programs show as a link. */
function harmlessName(name: string): string {
  const words = name.replaceAll(/[^\p{L}\p{M}\p{N}'\u2019&-]+/gu, ' ').trim();
  const letters = [...words];
  return letters.length > maxNameLength ? `${letters.slice(0, maxNameLength).join('')}…` : words;
}
