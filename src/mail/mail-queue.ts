import { setTimeout as sleep } from 'node:timers/promises';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { ConcurrencyLimit } from '../shared/scheduling/concurrency-limit.ts';
import { mailFailureOf } from './mail-failure.ts';
import type { Mail, Mailer } from './mailer.ts';

export interface MailOutcome {
  readonly status: 'sent' | 'failed';
  /** The reason, for `failed`. */
  readonly failure?: string;
}

export type SendMail = (mail: Mail) => Promise<MailOutcome>;

/** Delays between attempts. */
const retryDelaysMs = [2_000, 10_000];
const maxConcurrent = 4;
const maxWaiting = 1_000;
const attemptTimeoutMs = 20_000;

export const stoppedText = 'The server stopped before the email was sent.';

/**
 * Prepares and sends mails in the background, with a few attempts. What waits is only in memory: the mails of a server that
 * stops are not sent by another one.
 */
export class MailQueue implements Component {
  readonly name = 'mail-queue';
  readonly #mailer: Mailer;
  readonly #log: Logger;
  readonly #slots = new ConcurrencyLimit(maxConcurrent);
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor({ mailer, log }: { mailer: Mailer; log: Logger }) {
    this.#mailer = mailer;
    this.#log = log;
  }

  async start(): Promise<void> {}

  /** Waits until the outcome of every mail is recorded. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  /** Returns false when too many mails wait. @param work runs in the background, with few others at once */
  enqueue(work: (send: SendMail) => Promise<void>): boolean {
    if (this.#slots.waitingCount >= maxWaiting) return false;
    const running = this.#slots
      .run(() => work(mail => this.#send(mail)))
      .catch((error: unknown) => this.#log.warn('mail-not-prepared', { error }))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return true;
  }

  async #send(mail: Mail): Promise<MailOutcome> {
    for (let attempt = 0; ; attempt += 1) {
      const failure = await this.#attempt(mail);
      if (failure === undefined) return { status: 'sent' };
      const delayMs = retryDelaysMs[attempt];
      if (failure.isPermanent || delayMs === undefined) return { status: 'failed', failure: failure.text };
      const isOver = await sleep(delayMs, false, { signal: this.#stopping.signal }).catch(() => true);
      if (isOver) return { status: 'failed', failure: stoppedText };
    }
  }

  async #attempt(mail: Mail) {
    const ended = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(attemptTimeoutMs)]);
    const end = Promise.withResolvers<never>();
    ended.addEventListener('abort', () =>
      end.reject(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })),
    );
    try {
      ended.throwIfAborted();
      await Promise.race([this.#mailer.send(mail), end.promise]);
      return undefined;
    } catch (error) {
      return this.#stopping.signal.aborted ? { text: stoppedText, isPermanent: true } : mailFailureOf(error);
    }
  }
}
