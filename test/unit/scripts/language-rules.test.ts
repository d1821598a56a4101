import { describe, expect, test } from 'vitest';
import { commentProblems, nameProblems } from '../../../scripts/language-rules.ts';

describe('a comment', () => {
  test.each([
    ['with a verb first', '/** Parses a media playlist. */'],
    ['with a noun first', '/**\n * One rendition of a live broadcast.\n *\n * What follows is free.\n */'],
    ['over several lines', '// Nobody knows\n// how long it takes.\n// Where it goes on.'],
    ['in a string', "const text = '// What';"],
  ])('passes %s', (_what, text) => {
    expect(commentProblems('src/a.ts', text)).toEqual([]);
  });

  test.each([
    ['/** What a server is. */', 1, 'What'],
    ['let a;\n/**\n * How long it takes.\n */', 2, 'How'],
    ['// Whether it is open.', 1, 'Whether'],
    ['call(); // Where it goes', 1, 'Where'],
    ['/** Who asks. */', 1, 'Who'],
  ])('is refused: %s', (text, line, word) => {
    expect(commentProblems('src/a.ts', text)).toEqual([`src/a.ts:${line}: a comment opens with "${word}"`]);
  });
});

describe('an identifier', () => {
  test.each(['maxBytes', 'almost', 'placesOf', 'generationMode', "'mostBytes'", '// mostBytes', 'foremost'])(
    'passes: %s',
    text => {
      expect(nameProblems('src/a.ts', text)).toEqual([]);
    },
  );

  test.each(['mostBytes', 'longestGopMs', 'bytesAtMost', 'isTorn', 'soundTags', 'Outing'])(
    'is refused: %s',
    name => {
      expect(nameProblems('src/a.ts', `let ${name};`)).toEqual([
        expect.stringMatching(`^src/a.ts:1: ${name}, which is now `),
      ]);
    },
  );
});
