import type { Clock } from '../../shared/clock.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';
import type { Logger } from '../../shared/logger.ts';
import type { MailOutcome, MailQueue, SendMail } from '../mail/mail-queue.ts';
import { type InvitationMail, mailOf } from './invitation-mail.ts';
import type { InvitationsStore } from './invitations.store.ts';

interface InvitationMailsOptions {
  readonly queue: MailQueue;
  readonly store: InvitationsStore;
  readonly clock: Clock;
  readonly log: Logger;
}

const hourMs = 3_600_000;
const maxAccounts = 10_000;
const maxMailsPerHour = 100;

/** Sends invitations in the background, and stores the outcome. */
export class InvitationMails {
  readonly #options: InvitationMailsOptions;
  readonly #windows: FixedWindows;

  constructor(options: InvitationMailsOptions) {
    this.#options = options;
    this.#windows = new FixedWindows({ windowMs: hourMs, maxKeys: maxAccounts, clock: options.clock });
  }

  async send(mail: InvitationMail): Promise<void> {
    const isQueued = this.#options.queue.enqueue(async send =>
      this.#record(mail, await this.#deliver(mail, send)),
    );
    if (!isQueued) await this.#record(mail, failed('Too many mails wait. Invite the person again later.'));
  }

  async #record({ invitation }: InvitationMail, state: MailOutcome): Promise<void> {
    const { store, log } = this.#options;
    const { invitationId, accountId } = invitation;
    log.info(state.status === 'sent' ? 'invitation-mailed' : 'invitation-not-mailed', {
      ...{ accountId, invitationId },
      ...(state.failure === undefined ? {} : { reason: state.failure }),
    });
    try {
      await store.setMail(invitationId, state);
    } catch (error) {
      log.warn('invitation-mail-not-recorded', { invitationId, error });
    }
  }

  async #deliver(mail: InvitationMail, send: SendMail): Promise<MailOutcome> {
    const { accountId } = mail.invitation;
    const window = this.#windows.get(accountId);
    if (window.count >= maxMailsPerHour) {
      return failed(`This account has sent ${maxMailsPerHour} invitations by mail within an hour.`);
    }
    this.#windows.add(accountId, window);
    return send(mailOf(mail));
  }
}

function failed(failure: string): MailOutcome {
  return { status: 'failed', failure };
}
