import { describe, expect, it } from 'vitest';
import {
  describeS3Location,
  describeS3UrlProblem,
  parseS3Url,
} from '../../../../src/shared/network/s3-url.ts';

describe('the URL of an S3 storage', () => {
  it('names the bucket of a server, and the credentials', () => {
    const url = 's3://KEY:a%2Fb%2Bc@media/some/prefix/?endpoint=https://s3.example.org:9000&region=eu-west-1';
    expect(describeS3UrlProblem(url)).toBeUndefined();
    const location = parseS3Url(url);
    expect(location).toEqual({
      bucket: 'media',
      prefix: 'some/prefix/',
      endpoint: 'https://s3.example.org:9000',
      region: 'eu-west-1',
      usesPathStyle: true,
      credentials: { accessKeyId: 'KEY', secretAccessKey: 'a/b+c' },
    });
    expect(describeS3Location(location)).toBe('s3://media/some/prefix/ at https://s3.example.org:9000');
  });

  it('is that of Amazon S3 without an endpoint', () => {
    expect(parseS3Url('s3://media.example.org')).toEqual({
      bucket: 'media.example.org',
      prefix: '',
      endpoint: undefined,
      region: undefined,
      usesPathStyle: false,
      credentials: undefined,
    });
  });

  it.each([
    ['s3://media?endpoint=https://s3.eu-west-1.amazonaws.com', false],
    ['s3://media?endpoint=https://s3.example.org&pathStyle=false', false],
    ['s3://media?pathStyle=true', true],
  ])('says where the bucket goes: %s', (url, usesPathStyle) => {
    expect(parseS3Url(url).usesPathStyle).toBe(usesPathStyle);
  });

  it.each([
    ['https://media', /expected a URL such as/],
    ['s3://', /expected a URL such as|bucket is missing/],
    ['s3://KEY:a/b@media', /percent-encode|percent-encoded/],
    ['s3://KEY:a#b@media', /percent-encode/],
    ['s3://KEY@media', /expected both KEY and SECRET/],
    ['s3://media:9000', /the host belongs in "endpoint"/],
    ['s3://Media_1', /name of the bucket/],
    ['s3://media?bucket=x', /expected only the options endpoint, region, pathStyle/],
    ['s3://media?endpoint=s3.example.org', /endpoint: expected an address/],
    ['s3://media?pathStyle=yes', /pathStyle: expected true or false/],
  ])('is refused: %s', (url, problem) => {
    expect(describeS3UrlProblem(url)).toMatch(problem);
  });
});
