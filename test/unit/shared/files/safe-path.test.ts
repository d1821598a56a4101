import { expect, test } from 'vitest';
import { joinBelow } from '../../../../src/shared/files/safe-path.ts';

test.each([
  [['a'], '/data/a'],
  [['a', 'b/c.jpg'], '/data/a/b/c.jpg'],
  [['a', '..', 'b'], '/data/b'],
  [[], '/data'],
  [['..data'], '/data/..data'],
])('%j stays below', (parts, path) => {
  expect(joinBelow('/data', ...parts)).toBe(path);
});

test.each([[['..']], [['a', '../..']], [['/etc/passwd']], [['../database']], [['../data-two']]])(
  '%j leads outside',
  parts => {
    expect(() => joinBelow('/data', ...parts)).toThrow(
      expect.objectContaining({ code: 'path-outside-root' }),
    );
  },
);
