import { describe, expect, test } from 'vitest';
import { undocumentedExports } from '../../../scripts/doc-comments.ts';

describe('an exported name counts as documented', () => {
  test.each([
    ['with a sentence', '/** Says what it does. */\nexport function name() {}'],
    [
      'with a comment over several lines',
      '/**\n * Says what it does.\n *\n * @returns it\n */\nexport class Name {}',
    ],
    ['when only passed on', "export { name } from './name.ts';\nexport type { Name } from './name.ts';"],
    [
      'as a further overload',
      '/** Says what it does. */\nexport function name(): 1;\nexport function name(): 2;',
    ],
    ['when it is not exported', 'function name() {}\nconst other = 1;'],
  ])('%s', (_what, text) => {
    expect(undocumentedExports('src/a.ts', text)).toEqual([]);
  });
});

describe('an exported name is refused', () => {
  test.each([
    ['without a comment', 'export function name() {}', 'src/a.ts:1: name has no doc comment'],
    [
      'with a line comment',
      '// Says what it does.\nexport const name = 1;',
      'src/a.ts:2: name has no doc comment',
    ],
    [
      'with a plain block',
      '/* Says what it does. */\nexport const name = 1;',
      'src/a.ts:2: name has no doc comment',
    ],
    [
      'away from its comment',
      '/** Says what. */\n\nexport type Name = 1;',
      'src/a.ts:3: Name has no doc comment',
    ],
    ['when asynchronous', 'export async function name() {}', 'src/a.ts:1: name has no doc comment'],
    ['when abstract', 'export abstract class Name {}', 'src/a.ts:1: Name has no doc comment'],
    ['when the default', 'export default {};', 'src/a.ts:1: default has no doc comment'],
    [
      'with an empty comment',
      '/** */\nexport interface Name {}',
      'src/a.ts:2: the doc comment of Name does not say what it is for',
    ],
    [
      'with its name said again',
      '/** The name. */\nexport const name = 1;',
      'src/a.ts:2: the doc comment of name does not say what it is for',
    ],
    [
      'with tags only',
      '/**\n * @param one the first of all\n */\nexport function name(one: 1) {}',
      'src/a.ts:4: the doc comment of name does not say what it is for',
    ],
  ])('%s', (_what, text, problem) => {
    expect(undocumentedExports('src/a.ts', text)).toEqual([problem]);
  });
});
