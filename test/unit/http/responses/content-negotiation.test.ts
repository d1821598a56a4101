import { describe, expect, it } from 'vitest';
import {
  acceptsGzip,
  matchesEtag,
  negotiateErrorFormat,
} from '../../../../src/http/responses/content-negotiation.ts';

describe('acceptsGzip', () => {
  it.each([
    ['gzip', true],
    ['gzip, deflate, br, zstd', true],
    ['br;q=1.0, GZIP;q=0.8', true],
    ['x-gzip', true],
    ['gzip, identity', true],
    [undefined, false],
    ['', false],
    ['identity', false],
    ['identity;q=1, *;q=0', false],
    ['*', false],
    ['gzip;q=0', false],
    ['gzip; q=0.5, identity', false],
    ['gzip;q=lots', false],
    ['gzipped', false],
  ])('%s: %s', (header, expected) => {
    expect(acceptsGzip(header)).toBe(expected);
  });
});

describe('matchesEtag', () => {
  it.each([
    ['"a"', '"a"', true],
    ['W/"a"', '"a"', true],
    ['"a"', 'W/"a"', true],
    ['"x", W/"a"', '"a"', true],
    ['*', '"a"', true],
    ['"b"', '"a"', false],
    ['a', '"a"', false],
    [undefined, '"a"', false],
  ])('%s against %s: %s', (header, etag, expected) => {
    expect(matchesEtag(header, etag)).toBe(expected);
  });
});

describe('the form of an error', () => {
  it.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/*;q=0.5', 'json'],
    ['Text/HTML', 'html'],
    ['text/html;q=0.5, application/json', 'json'],
    ['text/html;q=0, */*', 'json'],
    ['text/html, application/json', 'html'],
    ['video/*', 'text'],
    ['application/json;q=0, */*', 'text'],
  ] as const)('for %s is %s', (accept, form) => {
    expect(negotiateErrorFormat(accept)).toBe(form);
  });
});
