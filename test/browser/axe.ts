import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

const axeOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  // Frames hold the player's pages.
  iframes: false,
  // Leaves out work on what nobody reads.
  resultTypes: ['violations'],
  selectors: false,
  preload: false,
};

/**
 * Lists violations of WCAG 2.2 AA and best practices that axe-core finds, one line for each element. What is behind a modal dialog is inert:
 * only the dialog is looked at.
 *
 * @param rules only these of it
 */
export async function axeViolations(
  page: Page,
  rules: readonly string[] = axeOptions.runOnly,
): Promise<string[]> {
  // Injects axe once: it stays on the page.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate<AxeResult>(
    `axe.run(document.querySelector('dialog:modal') ?? document, ${JSON.stringify({ ...axeOptions, runOnly: rules })})`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}
