import { composeMail } from '../../../mail/compose-mail.ts';
import type { Mail } from '../../../mail/mailer.ts';
import {
  describeRemoved,
  describeUnknownKeys,
  type RemovedCredentials,
} from '../accounts/removed-credentials.ts';

/** @param publicUrl of the server */
export function linkMail({ email, url, publicUrl }: { email: string; url: string; publicUrl: string }): Mail {
  return composeMail({
    to: email,
    subject: 'Set a new password for Millrace',
    greeting: `Someone requested a new password for ${email} on Millrace at ${publicUrl}.`,
    link: { label: 'Set a new password', url },
    advice:
      'The link works once, within an hour. If you didn’t ask for it, ignore this message: your password stays the same.',
  });
}

export function confirmationMail({
  email,
  removed,
  publicUrl,
}: {
  email: string;
  removed: RemovedCredentials;
  publicUrl: string;
}): Mail {
  const ended = describeRemoved(removed);
  return composeMail({
    to: email,
    subject: 'Your password for Millrace was changed',
    greeting:
      `The password of ${email} on Millrace was changed with a link that was sent to this address.${ended === undefined ? '' : ` The following was removed: ${ended}.`} ${describeUnknownKeys(removed)}`.trim(),
    link: { label: 'Sign in', url: `${publicUrl}/dashboard` },
    advice:
      'If this wasn’t you, someone can read your email. Secure your mailbox first, then request another link on the sign-in page, and tell the operator of the server.',
  });
}
