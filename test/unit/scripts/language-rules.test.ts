import { describe, expect, test } from 'vitest';
import { commentProblems, nameProblems, spreadProblems } from '../../../scripts/language-rules.ts';

describe('a comment', () => {
  test.each([
    ['with a verb first', '/** Parses a media playlist. */'],
    ['with a noun first', '/**\n * One rendition of a live broadcast.\n *\n * What follows is free.\n */'],
    ['over several lines', '// Nobody knows\n// how long it takes.\n// Where it goes on.'],
    ['in a string', "const text = '// What';"],
    ['with an introduction', '// In Safari, both tracks end.'],
    ['with a long introduction', '/**\n * For players that know\n * no parts, lists segments.\n */'],
    ['with an introduction over two lines', '// After the last frame of a\n// track, none follows.'],
    ['with a pronoun before a noun', '/** Each segment begins with a keyframe. */'],
    ['with a demonstrative before a noun', '// This server has the lease.'],
  ])('passes %s', (_what, text) => {
    expect(commentProblems('src/a.ts', text)).toEqual([]);
  });

  test.each([
    ['/** What a server is. */', 1, 'What'],
    ['let a;\n/**\n * How long it takes.\n */', 2, 'How'],
    ['// Whether it is open.', 1, 'Whether'],
    ['call(); // Where it goes', 1, 'Where'],
    ['/** Who asks. */', 1, 'Who'],
    ['/** Of one packet. */', 1, 'Of'],
    ['/** Those that are left out. */', 1, 'Those'],
    ['// It may have ended.', 1, 'It'],
    ['call(); // Its size.', 1, 'Its'],
    ['/** Such as `5.1`. */', 1, 'Such'],
    ['/** That the client sends. */', 1, 'That'],
    ['/** Each is a level. */', 1, 'Each'],
    ['/** All of it is encoded. */', 1, 'All'],
    ['/** Others may be rejected. */', 1, 'Others'],
    ['/** In seconds. */', 1, 'In'],
    ['/** By name: sizes, in bytes. */', 1, 'By'],
    ['/** Without a trailing slash. Never, ever. */', 1, 'Without'],
    ['// Before the first\n// paint.', 1, 'Before'],
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

describe('a spread', () => {
  test.each([
    'f({ ...options, a });',
    'f(...[1, 2]);',
    "'...{ a }'",
    'const x = { ...{ a: {}, b: 1 }[name] };',
  ])('passes: %s', text => {
    expect(spreadProblems('src/a.ts', text)).toEqual([]);
  });

  test('of an object literal is refused', () => {
    expect(spreadProblems('src/a.ts', '\nf({ ...{ a, b: { c } }, d });')).toEqual([
      'src/a.ts:2: an object literal is spread',
    ]);
  });
});
