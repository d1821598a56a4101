import { checkTitles, type Finding } from '../../operations/checks/finding.ts';

const marks: Readonly<Record<Finding['state'], string>> = {
  ok: '✓',
  warning: '!',
  failed: '✗',
  skipped: '-',
};

/** 0 when all is well, 1 with warnings, 2 with failures. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some(({ state }) => state === 'failed')) return 2;
  return findings.some(({ state }) => state === 'warning') ? 1 : 0;
}

export function formatFindings(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ check, state, text, why, mend }) => [
    `[${marks[state]}] ${checkTitles[check]}: ${text}`,
    ...(why === undefined ? [] : [`    ${why}`]),
    ...(mend === undefined ? [] : [`    → ${mend}`]),
  ]);
  const counts = (['ok', 'warning', 'failed', 'skipped'] as const).map(
    state => findings.filter(finding => finding.state === state).length,
  );
  const [fine = 0, warnings = 0, failures = 0, unchecked = 0] = counts;
  const sum = [
    `${fine} ok`,
    `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`,
    `${failures} failed`,
    ...(unchecked === 0 ? [] : [`${unchecked} not checked`]),
  ];
  // A server that is checked from outside names its own URL: no escape sequences for the terminal.
  const text = lines.join('\n').replaceAll(/[^\P{Cc}\n]/gu, ' ');
  return `${text}\n\n${sum.join(', ')}.\n`;
}
