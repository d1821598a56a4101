import { describe, expect, it } from 'vitest';
import { BlockCountCache } from '../../../../../../src/resources/videos/videos/lists/block-count-cache.ts';
import {
  foldFilter,
  singleConditionOf,
  trigramQuery,
  type VideoFilter,
} from '../../../../../../src/resources/videos/videos/lists/video-filter.ts';

describe('a filter', () => {
  it('is the same however it is written', () => {
    expect(
      foldFilter({
        title: 'ÉTÉ',
        tags: ['b', 'a', 'b'],
        metadata: new Map([
          ['y', ['1', '0', '1']],
          ['x', ['2']],
        ]),
      }),
    ).toEqual(
      foldFilter({
        title: 'été',
        tags: ['a', 'b'],
        metadata: new Map([
          ['x', ['2']],
          ['y', ['0', '1']],
        ]),
        description: '',
      }),
    );
  });

  it.each<[VideoFilter, ReturnType<typeof singleConditionOf>]>([
    [{}, undefined],
    [{ title: 'a' }, { title: 'a' }],
    [{ tags: ['a'] }, { tag: 'a' }],
    [{ tags: ['a', 'a'] }, { tag: 'a' }],
    [{ tags: ['a', 'b'] }, undefined],
    [{ title: 'a', description: 'b' }, undefined],
    [{ liveStreamId: 'li1' }, {}],
    [{ metadata: new Map([['k', ['v']]]) }, {}],
    [{ metadata: new Map([['k', ['v']]]), title: 'a' }, undefined],
  ])('%j asks for one thing: %j', (filter, sole) => {
    expect(singleConditionOf(foldFilter(filter))).toEqual(sole);
  });
});

describe('what the trigram index is asked for', () => {
  it.each<[VideoFilter, string | undefined, boolean]>([
    [{ title: 'ab' }, undefined, false],
    [{ title: 'Boat' }, 'title : "boat"', true],
    [{ title: 'say "hi"' }, 'title : "say ""hi"""', true],
    [{ description: 'boat', title: 'sea' }, 'title : "sea" AND description : "boat"', true],
    [{ description: 'boat', title: 'ab' }, 'description : "boat"', false],
    [{ title: 'a very long title' }, 'title : "a very long "', false],
    [{ title: '🐟🐟🐟' }, 'title : "🐟🐟🐟"', true],
    [{ title: '🐟🐟' }, undefined, false],
    [{ title: 'boat', tags: ['a'] }, 'title : "boat"', false],
    [{ title: 'boat', liveStreamId: 'li1' }, 'title : "boat"', false],
  ])('for %j', (filter, match, isExact) => {
    const query = trigramQuery(foldFilter(filter));
    expect(query).toEqual(match === undefined ? undefined : { match, isExact });
  });
});

describe('what was counted', () => {
  it('holds until the block changes', () => {
    const counts = new BlockCountCache().of('filter').of('title');
    expect(counts.get({ revision: 1 })).toBeUndefined();
    expect(counts.set({ revision: 1 }, 7)).toBe(7);
    expect(counts.get({ revision: 1 })).toBe(7);
    expect(counts.get({ revision: 2 })).toBeUndefined();
  });

  it('is forgotten for blocks that are no more', () => {
    const counts = new BlockCountCache().of('filter').of('title');
    for (let revision = 0; revision < 100; revision += 1) counts.set({ revision }, revision);
    counts.keepOnly([{ revision: 42 }]);
    expect(counts.size).toBe(1);
    expect(counts.get({ revision: 42 })).toBe(42);
  });

  it('is kept for so many filters and counts only, those that were asked for last', () => {
    const kept = new BlockCountCache();
    for (let filter = 0; filter < 40; filter += 1)
      kept.of(`filter ${filter}`).of('title').set({ revision: 1 }, 1);
    kept.trim();
    expect(kept.of('filter 0').size).toBe(0);
    expect(kept.of('filter 39').size).toBe(1);
    const large = kept.of('large').of('title');
    for (let revision = 0; revision < 250_001; revision += 1) large.set({ revision }, 1);
    kept.trim();
    expect(kept.of('large').size).toBe(0);
  });
});
