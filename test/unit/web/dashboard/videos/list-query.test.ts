import { describe, expect, it } from 'vitest';
import {
  apiQueryOf,
  readChoice,
  writeTags,
} from '../../../../../src/web/dashboard/pages/videos/list-query.ts';
import { titleOfUrl } from '../../../../../src/web/dashboard/pages/videos/title-of-url.ts';

describe('the choice of videos in an address', () => {
  it('is read, with tags of any letters', () => {
    const tags = ['sea', 'a, b', '100 %'];
    expect(readChoice({ search: 'x', tags: writeTags(tags)!, order: 'title', page: '3' })).toEqual({
      search: 'x',
      tags,
      order: 'title',
      page: 3,
    });
    expect(writeTags([])).toBeUndefined();
  });

  it.each([
    [{}],
    [{ order: 'toString', page: '0' }],
    [{ order: 'sideways', page: '-1', tags: '%' }],
    [{ page: '1e9', tags: ',' }],
  ])('is the usual one where it makes no sense: %j', query => {
    expect(readChoice(query)).toEqual({ search: '', tags: [], order: 'newest', page: 1 });
  });

  it('becomes a query of the API', () => {
    expect(apiQueryOf(readChoice({ search: ' dawn ', tags: 'sea' }))).toEqual({
      title: 'dawn',
      'tags[]': ['sea'],
      sortBy: 'createdAt',
      sortOrder: 'desc',
      currentPage: 1,
      pageSize: 24,
    });
  });
});

describe('titleOfAddress', () => {
  it.each([
    ['https://media.example.org/films/Harbour%20at%20dawn.mp4?x=1', 'Harbour at dawn'],
    ['https://media.example.org/', 'media.example.org'],
    ['https://media.example.org/%zz.mp4', '%zz'],
    ['no address', 'Video'],
  ])('%s: %s', (address, title) => {
    expect(titleOfUrl(address)).toBe(title);
  });
});
