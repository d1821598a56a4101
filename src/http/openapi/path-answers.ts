import type { DescribedAnswer } from './path-items.ts';

export type Answers = Readonly<Record<number, DescribedAnswer>>;

export const cacheHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'How long caches can keep the response.',
  ETag: 'Version of the response.',
};
export const pageType = 'text/html; charset=utf-8';
export const notFound: DescribedAnswer = {
  description: 'The resource does not exist, or is private.',
  isError: true,
};
export const notModified: DescribedAnswer = {
  description: 'The version in `If-None-Match` is current.',
  headers: cacheHeaders,
};
export const busy: DescribedAnswer = {
  description: 'Too many responses are in progress.',
  isError: true,
  headers: { 'Retry-After': 'Seconds to wait.' },
};

const binary = { type: 'string', contentMediaType: 'application/octet-stream' };

export function byteRanges(description: string, ...types: string[]): Answers {
  const headers = { ...cacheHeaders, 'Accept-Ranges': '`bytes`.' };
  return {
    200: { description, types, schema: binary, headers },
    206: {
      description: 'The requested range.',
      types,
      schema: binary,
      headers: { ...headers, 'Content-Range': 'The range of these bytes.' },
    },
    304: notModified,
    404: notFound,
    416: { description: 'The range is outside the file.', isError: true },
    503: busy,
  };
}

export function wholeFile(description: string, type: string): Answers {
  return {
    200: { description, types: [type], headers: cacheHeaders },
    304: notModified,
    404: notFound,
    503: { ...busy, description: 'The server cannot answer now, as while the database does not respond.' },
  };
}

export function json(description: string, example: object): Answers {
  return {
    200: { description, types: ['application/json'], schema: { type: 'object' }, example },
    404: notFound,
  };
}

export function appFiles(notFoundAnswer: DescribedAnswer): Answers {
  const types = ['text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'image/svg+xml'];
  return {
    200: { description: 'The file.', types, headers: cacheHeaders },
    304: notModified,
    404: notFoundAnswer,
  };
}
