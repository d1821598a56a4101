import { describe, expect, it } from 'vitest';
import {
  apiFilterOf,
  apiQueryOf,
  isFiltered,
  readChoice,
  writeTags,
} from '../../../../../src/web/dashboard/pages/videos/list-query.ts';
import { titleOfUrl } from '../../../../../src/web/dashboard/pages/videos/title-of-url.ts';

const noChoice = {
  search: '',
  status: undefined,
  visibility: undefined,
  source: undefined,
  date: undefined,
  order: 'newest',
  page: 1,
};

describe('the choice of videos in an address', () => {
  it('is read, with tags of any letters', () => {
    const tags = ['sea', 'a, b', '100 %'];
    expect(readChoice({ search: 'x', tags: writeTags(tags)!, order: 'title', page: '3' })).toEqual({
      search: 'x',
      tags,
      status: undefined,
      visibility: undefined,
      source: undefined,
      date: undefined,
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
    [{ page: '2.5' }],
    [{ status: 'broken', visibility: 'toString', source: 'elsewhere', date: '2026-99-99..' }],
    [{ date: '..' }],
    [{ date: '2026-02-30..' }],
  ])('is the usual one where it makes no sense: %j', query => {
    expect(readChoice(query)).toEqual({ ...noChoice, tags: [] });
    expect(isFiltered(readChoice(query))).toBe(false);
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

  it.each([
    [
      { status: 'failed', visibility: 'private' },
      { status: 'failed', public: false },
    ],
    [{ source: 'upload' }, { sourceType: 'upload' }],
    [
      { source: 'recording', visibility: 'public' },
      { sourceType: 'liveStream', public: true },
    ],
    [{ source: 'li1' }, { liveStreamId: 'li1' }],
    [{ date: '7d' }, { createdFrom: new Date(2026, 2, 4).toISOString() }],
    [
      { date: '2026-03-01..2026-03-04' },
      { createdFrom: new Date(2026, 2, 1).toISOString(), createdTo: new Date(2026, 2, 5).toISOString() },
    ],
    [{ date: '..2026-03-04' }, { createdTo: new Date(2026, 2, 5).toISOString() }],
  ])('filters by %j', (query, expected) => {
    const choice = readChoice(query);
    expect(apiFilterOf(choice, new Date(2026, 2, 10, 15).getTime())).toEqual({
      title: undefined,
      ...expected,
    });
    expect(isFiltered(choice)).toBe(true);
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
