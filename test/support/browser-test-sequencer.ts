import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Begins files that keep a browser busy and files that mostly wait by turns, so that as few as may be of the first kind run at the same
 * time. Files of other kinds stay in their order.
 */
export class BrowserTestSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const browser = sorted.filter(({ project }) => project.name.startsWith('browser'));
    const waiting = sorted.filter(({ project }) => project.name === 'media');
    const others = sorted.filter(file => !browser.includes(file) && !waiting.includes(file));
    const mixed: TestSpecification[] = [];
    for (let index = 0; index < Math.max(browser.length, waiting.length); index += 1) {
      for (const file of [browser[index], waiting[index]]) if (file !== undefined) mixed.push(file);
    }
    return [...others, ...mixed];
  }
}
