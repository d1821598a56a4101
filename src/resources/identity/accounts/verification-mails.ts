import { composeMail } from '../../../mail/compose-mail.ts';
import type { MailQueue } from '../../../mail/mail-queue.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';
import type { Logger } from '../../../shared/logger.ts';
import { describeRemoved, describeUnknownKeys, type RemovedCredentials } from './removed-credentials.ts';

interface VerificationMailsOptions {
  /** Undefined if the server sends no mails. */
  readonly queue: MailQueue | undefined;
  readonly publicUrl: () => string;
  readonly log: Logger;
}

/** Tells users what ended when they proved their email address. */
export class VerificationMails {
  readonly #options: VerificationMailsOptions;

  constructor(options: VerificationMailsOptions) {
    this.#options = options;
  }

  send(user: { readonly userId: string; readonly email: EmailAddress }, removed: RemovedCredentials): void {
    const { queue, publicUrl, log } = this.#options;
    const { userId, email } = user;
    const ended = describeRemoved(removed);
    const mail = composeMail({
      to: email,
      subject: 'Your email address for Millrace was verified',
      greeting:
        `${email} is verified on Millrace at ${publicUrl()}. Someone had set up a user with this address before. To keep others out, the old password no longer works${ended === undefined ? '' : `, and the following was removed: ${ended}`}. ${describeUnknownKeys(removed)}`.trim(),
      link: { label: 'Open Millrace', url: `${publicUrl()}/dashboard` },
      advice:
        'If this wasn’t you, someone can read your email or sign in as you. Secure your mailbox first, and tell the operator of the server.',
    });
    queue?.enqueue(async send => {
      const { status, failure } = await send(mail);
      if (status === 'failed') log.warn('verification-not-mailed', { userId, reason: failure });
    });
  }
}
