import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../shared/errors.ts';
import { type CheckName, type Finding, failed } from './finding.ts';

export interface Check {
  readonly name: CheckName;
  readonly run: (signal: AbortSignal) => Promise<Finding | readonly Finding[]>;
}

const checkTimeoutMs = 15_000;

/** Runs the checks one after the other, so that none slows another one down. Never rejects. */
export async function runChecks(checks: readonly Check[], signal: AbortSignal): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of checks) findings.push(...(await runCheck(check, signal)));
  return findings;
}

async function runCheck({ name, run }: Check, signal: AbortSignal): Promise<readonly Finding[]> {
  const ended = new AbortController();
  const limit = AbortSignal.any([signal, ended.signal]);
  try {
    const timeout = sleep(checkTimeoutMs, undefined, { signal: limit }).then(() => {
      throw new Error(`no answer within ${checkTimeoutMs / 1_000} s`);
    });
    const work = run(limit);
    // The other one settles later.
    for (const one of [timeout, work]) one.catch(() => {});
    return [await Promise.race([work, timeout])].flat();
  } catch (error) {
    return [
      failed(name, `This could not be checked: ${messageOf(error)}.`, {
        why: 'What cannot be checked probably does not work either.',
        mend: 'Read the log of the server for the cause.',
      }),
    ];
  } finally {
    ended.abort();
  }
}
