import { type Clock, formatAtom } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { ChecksView } from './checks.schema.ts';
import { checkTitles, type Finding } from './finding.ts';
import { type Check, runChecks } from './run-checks.ts';

/** Checks the server when somebody asks. All who ask meanwhile get the same findings. */
export class Checks implements Component {
  readonly name = 'checks';
  readonly #list: () => readonly Check[];
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  #running: Promise<ChecksView> | undefined;

  constructor(list: () => readonly Check[], clock: Clock) {
    this.#list = list;
    this.#clock = clock;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  run(): Promise<ChecksView> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<ChecksView> {
    const findings = await runChecks(this.#list(), this.#stopping.signal);
    return viewOf(findings, this.#clock);
  }
}

export function viewOf(findings: readonly Finding[], clock: Clock): ChecksView {
  return {
    checkedAt: formatAtom(clock.nowMs()),
    findings: findings.map(finding => ({
      ...finding,
      title: checkTitles[finding.check],
      ...(finding.facts === undefined ? {} : { facts: { ...finding.facts } }),
    })),
  };
}
