import type { ServerChecks } from '../../api/api-types.ts';
import { readStored, writeStored } from '../../state/local-storage.ts';

/** Titles of what the last run of the checks in this browser found. */
export interface CheckSummary {
  readonly checkedAt: string;
  readonly failed: readonly string[];
  readonly warnings: readonly string[];
}

const name = 'server-checks';

export function storeCheckSummary({ checkedAt, findings }: ServerChecks): void {
  const titlesOf = (wanted: string) =>
    findings.filter(({ state }) => state === wanted).map(({ title }) => title);
  const summary = { checkedAt, failed: titlesOf('failed'), warnings: titlesOf('warning') };
  writeStored(name, JSON.stringify(summary));
}

export function readCheckSummary(): CheckSummary | undefined {
  try {
    return JSON.parse(readStored(name) ?? '') as CheckSummary;
  } catch {
    return undefined;
  }
}
