import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import { mailFailureOf } from '../mail/mail-failure.ts';
import type { Mailer } from '../mail/mailer.ts';
import { type InvitationMail, mailOf } from './invitation-mail.ts';
import type { InvitationsStore } from './invitations.store.ts';
import type { MailState } from './member.ts';

interface InvitationMailsOptions {
  readonly mailer: Pick<Mailer, 'send'>;
  readonly store: InvitationsStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Between attempts. */
  readonly retryDelaysMs?: readonly number[];
  readonly maxMailsPerHour?: number;
}

const hourMs = 3_600_000;
const maxAccounts = 10_000;
const maxConcurrent = 4;
const attemptTimeoutMs = 20_000;

/**
 * Sends invitations in the background, with a few attempts, and stores the outcome. The link is only in memory: the
 * invitations of a server that stops are not sent by another one.
 */
export class InvitationMails implements Component {
  readonly name = 'invitation-mails';
  readonly #options: InvitationMailsOptions;
  readonly #windows: FixedWindows;
  readonly #maxMailsPerHour: number;
  readonly #slots = new ConcurrencyLimit(maxConcurrent);
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: InvitationMailsOptions) {
    this.#options = options;
    this.#maxMailsPerHour = options.maxMailsPerHour ?? 100;
    this.#windows = new FixedWindows({ windowMs: hourMs, maxKeys: maxAccounts, clock: options.clock });
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  send(mail: InvitationMail): void {
    const running = this.#slots.run(() => this.#process(mail)).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #process(mail: InvitationMail): Promise<void> {
    const { store, log } = this.#options;
    const { invitationId, accountId } = mail.invitation;
    const state = await this.#deliver(mail);
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

  async #deliver(mail: InvitationMail): Promise<MailState> {
    const { retryDelaysMs = [2_000, 10_000] } = this.#options;
    const { accountId } = mail.invitation;
    const window = this.#windows.get(accountId);
    if (window.count >= this.#maxMailsPerHour) {
      return failed(`This account has sent ${this.#maxMailsPerHour} invitations by mail within an hour.`);
    }
    this.#windows.add(accountId, window);
    for (let attempt = 0; ; attempt += 1) {
      const failure = await this.#attempt(mail);
      if (failure === undefined) return { status: 'sent' };
      const delayMs = retryDelaysMs[attempt];
      if (failure.isPermanent || delayMs === undefined) return failed(failure.text);
      const isOver = await sleep(delayMs, false, { signal: this.#stopping.signal }).catch(() => true);
      if (isOver) return failed(stoppedText);
    }
  }

  async #attempt(mail: InvitationMail) {
    const ended = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(attemptTimeoutMs)]);
    const end = Promise.withResolvers<never>();
    ended.addEventListener('abort', () =>
      end.reject(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })),
    );
    try {
      ended.throwIfAborted();
      await Promise.race([this.#options.mailer.send(mailOf(mail)), end.promise]);
      return undefined;
    } catch (error) {
      return this.#stopping.signal.aborted ? { text: stoppedText, isPermanent: true } : mailFailureOf(error);
    }
  }
}

export const stoppedText = 'The server stopped before the mail was sent.';

function failed(failure: string): MailState {
  return { status: 'failed', failure };
}
