import { describe, expect, it } from 'vitest';
import { maxTags } from '../../../../../src/shared/limits/resource-limits.ts';
import { addTags } from '../../../../../src/web/dashboard/format/tags.ts';

describe('tags that are added', () => {
  it('are taken apart at commas and line ends, each once', () => {
    expect(addTags(['sea'], ' a, b,,c d\r\nsea, a')).toEqual({
      tags: ['sea', 'a', 'b', 'c d'],
      rest: '',
      problem: undefined,
    });
  });

  it('are the same as before when there is nothing new', () => {
    const before = ['sea'];
    expect(addTags(before, ' sea ,').tags).toBe(before);
  });

  it('stay in the field, with the limit, when they are too long or too many', () => {
    const long = 'x'.repeat(256);
    expect(addTags([], `a, ${long}, b`)).toEqual({
      tags: ['a', 'b'],
      rest: long,
      problem: '“xxxxxxxxxxxxxxxxxxxx…” is longer than 255 characters.',
    });
    const many = Array.from({ length: maxTags - 1 }, (_, index) => String(index));
    expect(addTags(many, 'a, b, c')).toEqual({
      tags: [...many, 'a'],
      rest: 'b, c',
      problem: 'A video can have up to 100 tags.',
    });
  });
});
