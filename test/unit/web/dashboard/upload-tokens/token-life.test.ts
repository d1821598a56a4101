import { expect, it } from 'vitest';
import { shortId } from '../../../../../src/web/dashboard/format/short-id.ts';
import {
  type LifetimeUnit,
  ttlOf,
} from '../../../../../src/web/dashboard/pages/upload-tokens/token-lifetime.ts';
import {
  curlSample,
  pageSample,
} from '../../../../../src/web/dashboard/pages/upload-tokens/token-samples.ts';

it('takes the life of a choice, whatever was typed', () => {
  expect([ttlOf('3600', 'x', 'days'), ttlOf('0', '', 'days')]).toEqual([3_600, 0]);
});

it.each<[string, LifetimeUnit, number | undefined]>([
  ['90', 'minutes', 5_400],
  [' 1.5 ', 'hours', 5_400],
  ['1,5', 'hours', 5_400],
  ['30', 'days', 2_592_000],
  ['0', 'days', undefined],
  ['', 'days', undefined],
  ['-1', 'days', undefined],
  ['soon', 'days', undefined],
  ['24855', 'days', 24_855 * 86_400],
  ['24856', 'days', undefined],
])('takes %j %s as %s seconds', (number, unit, seconds) => {
  expect(ttlOf('custom', number, unit)).toBe(seconds);
});

it('puts the token into what is to be copied, and shows only its end elsewhere', () => {
  const token = 'to3Hg6FdSa1Po8IuYt4ReWqZ';
  expect(curlSample('http://a.example', token)).toBe(
    `curl -F file=@video.mp4 "http://a.example/upload?token=${token}"`,
  );
  expect(pageSample('http://a.example', token)).toContain(`fetch('http://a.example/upload?token=${token}'`);
  expect(shortId(token)).toBe('4ReWqZ');
});
