// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the scripts have templates.
import { describe, expect, it } from 'vitest';
import { withoutComments } from '../../../src/http/without-comments.ts';

describe('scripts without comments', () => {
  it('leave out lines that are comments or have nothing on them', () => {
    const script = `
/** What it is. */
const one = 1; // stays

  /**
   * More, with an odd \` in it.
   */
  // and this
const two = { /* stays */ };
`;
    expect(withoutComments(script)).toBe('const one = 1; // stays\nconst two = { /* stays */ };\n');
  });

  it.each([
    ['text of templates', 'const text = `\n// no comment\n\n/** nor this */\nend`;\n'],
    ['text after an expression', 'const text = `${{ a: { b } }}\n\n// kept ${`\n\n// inner`}\n\n`;\n'],
    ['a brace or backtick that was escaped', 'const text = `\\`\\${\n\n// kept`;\n'],
    ['strings with a backtick', "const tick = '`', quote = \"it's `\";\nconst text = `\n\n`;\n"],
    ['expressions with a backtick', 'const tick = /[/`]\\/`/.test(text);\nconst text = `\n\n`;\n'],
    ['comments with a backtick', 'work(); // it`s\nmore(/* ` */);\nconst text = `\n\n`;\n'],
  ])('keep %s', (_, script) => {
    expect(withoutComments(script)).toBe(script);
  });

  it('leave out what stands between templates', () => {
    expect(withoutComments('a(`x`);\n\n// gone\nb(`${c / d}`, e / f);\n\ng();\n')).toBe(
      'a(`x`);\nb(`${c / d}`, e / f);\ng();\n',
    );
  });
});
