import { RateExceeded } from '../../../http/routing/rate-limiter.ts';
import type { MailOutcome, MailQueue, SendMail } from '../../../mail/mail-queue.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { SignInAttemptsStore } from '../sessions/sign-in-attempts.store.ts';
import { countWithin } from '../sessions/sign-in-limiter.ts';
import { type InvitationMail, mailOf } from './invitation-mail.ts';
import type { InvitationsStore } from './invitations.store.ts';

interface InvitationMailsOptions {
  readonly queue: MailQueue;
  readonly store: InvitationsStore;
  readonly attempts: SignInAttemptsStore;
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly log: Logger;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const maxMailsPerHour = 30;
const maxMailsPerAddressAndDay = 3;
/** Higher than the limit of an account, so that no account alone keeps others from inviting somebody. */
const maxMailsOfAllPerAddressAndDay = 10;

/** Sends invitations in the background, and stores the outcome. */
export class InvitationMails {
  readonly #options: InvitationMailsOptions;

  constructor(options: InvitationMailsOptions) {
    this.#options = options;
  }

  async send(mail: InvitationMail): Promise<void> {
    const isQueued = this.#options.queue.enqueue(async send =>
      this.#record(mail, await this.#deliver(mail, send)),
    );
    if (!isQueued)
      await this.#record(
        mail,
        failed('Too many emails are waiting to be sent. Invite the person again later.'),
      );
  }

  async #record({ invitation }: InvitationMail, state: MailOutcome): Promise<void> {
    const { store, log } = this.#options;
    const { invitationId, accountId } = invitation;
    log.info(state.status === 'sent' ? 'invitation-mailed' : 'invitation-not-mailed', {
      accountId,
      invitationId,
      reason: state.failure,
    });
    try {
      await store.setMail(invitationId, state);
    } catch (error) {
      log.warn('invitation-mail-not-recorded', { invitationId, error });
    }
  }

  async #deliver(mail: InvitationMail, send: SendMail): Promise<MailOutcome> {
    const { accountId, email } = mail.invitation;
    const { attempts, publicUrl, clock } = this.#options;
    const count = { attempts, nowMs: clock.nowMs() };
    const byAccount = {
      ...count,
      windowMs: hourMs,
      refusal: `This account has sent ${maxMailsPerHour} invitations by email within an hour. Send the link yourself.`,
    };
    const byAddress = {
      ...count,
      windowMs: dayMs,
      refusal:
        'Several invitations were sent to this address within a day. Send the link yourself. Send the link yourself.',
    };
    try {
      await attempts.transaction(async transaction => {
        const accountKey = `invitations of ${accountId}`;
        await countWithin([{ key: accountKey, limit: maxMailsPerHour }], byAccount, transaction);
        const addressLimits = [
          { key: `invitations of ${accountId} to ${email}`, limit: maxMailsPerAddressAndDay },
          { key: `invitations to ${email}`, limit: maxMailsOfAllPerAddressAndDay },
        ];
        await countWithin(addressLimits, byAddress, transaction);
      });
    } catch (error) {
      if (error instanceof RateExceeded) return failed(String(error.details.detail));
      throw error;
    }
    return send(mailOf(mail, publicUrl()));
  }
}

function failed(failure: string): MailOutcome {
  return { status: 'failed', failure };
}
