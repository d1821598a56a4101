import { describe, expect, it } from 'vitest';
import { parseAuthorization } from '../../../../../src/resources/identity/auth/credentials.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('an Authorization header', () => {
  it.each([
    ['Basic azN5Rm9yVGhlRmFybTo=', { scheme: 'basic', apiKey: 'k3yForTheFarm' }],
    ['basic azN5Rm9yVGhlRmFybTo=', { scheme: 'basic', apiKey: 'k3yForTheFarm' }],
    ['Basic azN5Rm9yVGhlRmFybTo', { scheme: 'basic', apiKey: 'k3yForTheFarm' }],
    ['Bearer at.7f0c1b6e9d', { scheme: 'bearer', accessToken: 'at.7f0c1b6e9d' }],
    ['BEARER   abc', { scheme: 'bearer', accessToken: 'abc' }],
  ])('%s is read', (header, expected) => {
    expect(parseAuthorization(header)).toEqual(expected);
  });

  it.each([
    '',
    'Basic',
    'Basic ',
    'Bearer',
    'k3yForTheFarm',
    'Digest abc',
    `Basic ${base64('no colon')}`,
    `Basic ${base64(':')}`,
    `Basic ${base64('key:password')}`,
    `Basic ${base64('a:b:')}`,
    'Basic ***',
    'Bearer a b',
  ])('%s is refused', header => {
    expect(parseAuthorization(header)).toBeUndefined();
  });
});
