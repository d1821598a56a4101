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
const files = appFiles({
  description: 'The file does not exist.',
  types: ['application/json'],
  schema: { $ref: '#/components/schemas/Error' },
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
  { path: '/docs/errors', tag, summary: 'The list of all errors', answers: page },
  { path: '/docs/assets/{name}', tag, summary: 'A file of the documentation', answers: files },
];
