import {
  type Answers,
  appFiles,
  cacheHeaders,
  notModified,
  pageType,
} from '../../http/openapi/path-answers.ts';
import type { DescribedPath } from '../../http/openapi/path-items.ts';

const page: Answers = {
  200: { description: 'The page.', types: [pageType], headers: cacheHeaders },
  304: notModified,
};
const error = { $ref: '#/components/schemas/Error' };
const noFile = { description: 'The file does not exist.', types: ['application/json'], schema: error };
const files = appFiles(noFile);
const docsFiles: Answers = {
  200: {
    description: 'The file.',
    types: [...(files[200]?.types ?? []), 'application/json', 'image/png', 'text/plain; charset=utf-8'],
    schema: {},
    headers: cacheHeaders,
  },
  304: notModified,
  404: noFile,
};
const docsPage: Answers = {
  ...page,
  404: { description: 'The page does not exist.', isError: true },
};
const text = (description: string, type: string): Answers => ({
  200: { description, types: [type], schema: {}, headers: cacheHeaders },
  304: notModified,
});
const tag = 'Documentation';

export const pagePaths: readonly DescribedPath[] = [
  {
    path: '/dashboard',
    tag,
    summary: 'The dashboard',
    description: 'A single page, which is also served at every path below it except those of its files.',
    answers: page,
  },
  { path: '/dashboard/assets/{name}', tag, summary: 'A file of the dashboard', answers: files },
  { path: '/docs', tag, summary: 'The documentation', answers: page },
  { path: '/docs/{page}', tag, summary: 'A page of the documentation', answers: docsPage },
  {
    path: '/docs/{page}.md',
    tag,
    summary: 'A page of the documentation as Markdown',
    answers: { ...text('The page.', 'text/markdown; charset=utf-8'), 404: docsPage[404]! },
  },
  { path: '/docs/reference/{page}', tag, summary: 'A page of the API reference', answers: docsPage },
  {
    path: '/docs/reference/search.json',
    tag,
    summary: 'What a search of the API reference finds',
    answers: text('The operations.', 'application/json'),
  },
  {
    path: '/llms.txt',
    tag,
    summary: 'The pages of the documentation, for programs',
    answers: text('A list in Markdown.', 'text/plain; charset=utf-8'),
  },
  { path: '/docs/errors', tag, summary: 'The list of all errors', answers: page },
  { path: '/docs/assets/{name}', tag, summary: 'A file of the documentation', answers: docsFiles },
];

/** Descriptions of their parameters. */
export const pageNames: Readonly<Record<string, string>> = { page: 'Name of the page.' };
