import { expect, test } from 'vitest';
import {
  formatImportList,
  maxImports,
  parseImportList,
} from '../../../../../src/web/dashboard/pages/videos/import-list.ts';

test('one URL per line, with commas in them, and empty lines', () => {
  const { videos, problem } = parseImportList(
    '\uFEFFhttps://example.org/a,b.mp4\r\n\r\n  http://example.org/deep/Mill%20wheel.mov \n',
  );
  expect(problem).toBeUndefined();
  expect(videos).toEqual([
    { line: 1, source: 'https://example.org/a,b.mp4', title: 'a,b' },
    { line: 3, source: 'http://example.org/deep/Mill%20wheel.mov', title: 'Mill wheel' },
  ]);
});

test.each([
  [',', 'sea;drone'],
  [';', '"sea;drone"'],
  ['\t', 'sea;drone'],
])('columns by name, separated by %j', (separator, tags) => {
  const text = [
    ['Title', 'URL', 'tags', 'description', 'language', 'other'],
    ['"Harbour ""at"" dawn"', 'https://example.org/1.mp4', tags, '"Two\nlines"', 'en', 'x'],
    ['', 'https://example.org/2.mp4', '', '', '', ''],
  ]
    .map(cells => cells.join(separator))
    .join('\n');
  expect(parseImportList(text)).toEqual({
    problem: undefined,
    videos: [
      {
        line: 2,
        source: 'https://example.org/1.mp4',
        title: 'Harbour "at" dawn',
        description: 'Two\nlines',
        tags: ['sea', 'drone'],
        language: 'en',
      },
      { line: 3, source: 'https://example.org/2.mp4', title: '2' },
    ],
  });
});

test('a list that is formatted reads the same', () => {
  const videos = [
    {
      line: 2,
      source: 'https://example.org/a,b.mp4',
      title: 'A "b", c',
      description: 'Two\nlines',
      tags: ['sea', 'two words'],
      language: 'fr',
    },
    { line: 3, source: 'https://example.org/c;d.mp4', title: 'c' },
  ];
  expect(parseImportList(formatImportList(videos)).videos).toEqual(videos);
});

test.each([
  ['', undefined],
  ['url,title\n', undefined],
  ['https://example.org/1.mp4\nnonsense', 'Line 2 has no http or https URL.'],
  ['ftp://example.org/1.mp4', 'Line 1 has no http or https URL.'],
  ['title,url\nOnly a title,', 'Line 2 has no http or https URL.'],
  ['https://example.org/1.mp4\n'.repeat(maxImports), undefined],
  ['https://example.org/1.mp4\n'.repeat(maxImports + 1), `Import up to ${maxImports} videos at once.`],
])('%#: tells what is wrong', (text, problem) => {
  expect(parseImportList(text).problem).toBe(problem);
});
