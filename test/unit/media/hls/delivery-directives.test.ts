import { expect, test } from 'vitest';
import { parseDeliveryDirectives } from '../../../../src/media/hls/delivery-directives.ts';

test.each([
  ['', { ok: true, skip: 'no' }],
  ['_HLS_msn=7', { ok: true, msn: 7, skip: 'no' }],
  ['_HLS_msn=7&_HLS_part=0', { ok: true, msn: 7, part: 0, skip: 'no' }],
  ['_HLS_part=3&_HLS_msn=0', { ok: true, msn: 0, part: 3, skip: 'no' }],
  ['_HLS_msn=007', { ok: true, msn: 7, skip: 'no' }],
  ['_HLS_msn=999999999999999', { ok: true, msn: 999_999_999_999_999, skip: 'no' }],
  ['_HLS_skip=YES', { ok: true, skip: 'yes' }],
  ['_HLS_skip=v2&_HLS_msn=1', { ok: true, msn: 1, skip: 'v2' }],
  ['_HLS_skip=yes', { ok: true, skip: 'no' }],
  ['_HLS_skip=v3', { ok: true, skip: 'no' }],
  ['_HLS_push=1&_HLS_report=/a.m3u8&token=x&_hls_msn=5', { ok: true, skip: 'no' }],
])('"%s" is understood', (query, directives) => {
  expect(parseDeliveryDirectives(new URLSearchParams(query))).toEqual(directives);
});

const notInteger = (name: string) => `${name} is not a decimal integer of at most 15 digits.`;

test.each([
  ['_HLS_part=1', '_HLS_part is given without _HLS_msn.'],
  ['_HLS_msn=', notInteger('_HLS_msn')],
  ['_HLS_msn=-1', notInteger('_HLS_msn')],
  ['_HLS_msn=%2B1', notInteger('_HLS_msn')],
  ['_HLS_msn=1.0', notInteger('_HLS_msn')],
  ['_HLS_msn=1e3', notInteger('_HLS_msn')],
  ['_HLS_msn=0x10', notInteger('_HLS_msn')],
  ['_HLS_msn=%201', notInteger('_HLS_msn')],
  ['_HLS_msn=1%0A', notInteger('_HLS_msn')],
  ['_HLS_msn=٣', notInteger('_HLS_msn')],
  ['_HLS_msn=abc', notInteger('_HLS_msn')],
  ['_HLS_msn=1000000000000000', notInteger('_HLS_msn')],
  [`_HLS_msn=${'9'.repeat(5000)}`, notInteger('_HLS_msn')],
  ['_HLS_msn=1&_HLS_part=-1', notInteger('_HLS_part')],
  ['_HLS_msn=1&_HLS_part=x', notInteger('_HLS_part')],
  ['_HLS_msn=1&_HLS_msn=2', '_HLS_msn is given more than once.'],
  ['_HLS_msn=1&_HLS_part=1&_HLS_part=1', '_HLS_part is given more than once.'],
])('"%s" is refused', (query, reason) => {
  expect(parseDeliveryDirectives(new URLSearchParams(query))).toEqual({ ok: false, reason });
});
