import { escapeHtml } from '../../shared/escape-html.ts';
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
  const greeting = `${inviterEmail} invites you to “${team}” on Millrace, as ${role}.`;
  const advice = `The link works once, until ${until}. If you don’t expect this invitation, ignore this message.`;
  return {
    to: email,
    subject: `Invitation to ${team} on Millrace`,
    text: `${greeting}\n\nAccept the invitation:\n${url}\n\n${advice}\n`,
    html: [
      '<!doctype html><html lang="en"><body style="font-family: sans-serif">',
      `<p>${escapeHtml(greeting)}</p>`,
      `<p><a href="${escapeHtml(url)}">Accept the invitation</a></p>`,
      `<p>${escapeHtml(advice)}</p>`,
      '</body></html>',
    ].join('\n'),
  };
}
