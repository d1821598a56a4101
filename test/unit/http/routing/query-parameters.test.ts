import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseQuery, queryPairs, queryReader } from '../../../../src/http/routing/query-parameters.ts';

const read = queryReader(
  z.strictObject({
    title: z.string().optional(),
    currentPage: z.int().default(1),
    flag: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    metadata: queryPairs(3).optional(),
    filterBy: z.strictObject({ kind: z.string().optional(), ids: z.array(z.string()).optional() }).optional(),
  }),
);

const pairs = (...groups: [key: string, ...values: string[]][]) =>
  new Map(groups.map(([key, ...values]) => [key, values]));

describe('reading a query', () => {
  it.each([
    ['', {}],
    ['&&', {}],
    ['title=a', { title: 'a' }],
    ['title=a%20b+c', { title: 'a b c' }],
    ['title', { title: '' }],
    ['title=a=b', { title: 'a=b' }],
    ['title=first&title=last', { title: 'last' }],
    ['title=%zz', { title: '%zz' }],
    ['title=%C3%A9', { title: 'é' }],
    ['currentPage=12', { currentPage: 12 }],
    ['currentPage=-1', { currentPage: -1 }],
    ['currentPage=1.5', { currentPage: '1.5' }],
    ['currentPage=1e3', { currentPage: '1e3' }],
    ['currentPage=', { currentPage: '' }],
    ['flag=true', { flag: true }],
    ['flag=false', { flag: false }],
    ['flag=1', { flag: '1' }],
    ['tags[]=a&tags[]=b', { tags: ['a', 'b'] }],
    ['tags%5B%5D=a&tags%5B%5D=b', { tags: ['a', 'b'] }],
    ['tags[0]=a&tags[1]=b', { tags: ['a', 'b'] }],
    ['tags[][0]=a', { tags: ['a'] }],
    ['tags=a', { tags: ['a'] }],
    ['tags=A,B', { tags: ['A,B'] }],
    ['metadata[Author]=Jane&metadata[Format]=B', { metadata: pairs(['Author', 'Jane'], ['Format', 'B']) }],
    ['metadata[a%20b]=c+d', { metadata: pairs(['a b', 'c d']) }],
    ['metadata[a]=1&metadata[b]=3&metadata[a]=2', { metadata: pairs(['a', '1', '2'], ['b', '3']) }],
    ['metadata=x', { metadata: 'x' }],
    ['filterBy[kind]=a+b', { filterBy: { kind: 'a b' } }],
    ['filterBy[ids][0]=a&filterBy[ids][1]=b', { filterBy: { ids: ['a', 'b'] } }],
    ['filterBy[ids][]=a&filterBy%5Bids%5D%5B%5D=b', { filterBy: { ids: ['a', 'b'] } }],
    ['filterBy[ids]=a&filterBy[kind]=b', { filterBy: { ids: ['a'], kind: 'b' } }],
    ['filterBy[kind][0]=a', { filterBy: { kind: ['a'] } }],
    ['filterBy[other]=a', { filterBy: { other: 'a' } }],
    ['filterBy=a', { filterBy: 'a' }],
    ['title[x]=a', { title: ['a'] }],
    ['unknown=a', { unknown: 'a' }],
    ['[x]=a', { '[x]': 'a' }],
  ])('%s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it('takes a prototype for nothing but a name', () => {
    expect(Object.keys(read('__proto__=1'))).toEqual(['__proto__']);
    expect(read('metadata[__proto__]=1')).toEqual({ metadata: pairs(['__proto__', '1']) });
  });

  it('keeps the keys in brackets', () => {
    expect(parseQuery('filterBy[browser][]=x')).toEqual([
      { name: 'filterBy', keys: ['browser', ''], value: 'x' },
    ]);
  });
});
