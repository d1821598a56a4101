import { expect, test } from 'vitest';
import { typable } from '../../../../../src/web/dashboard/format/typable.ts';

test.each([
  ['two  spaces', 'two spaces'],
  [' first line\r\nsecond\u0007 line ', 'first line second line'],
  ['\u202eharbour', 'harbour'],
  ['Cafe\u0301', 'Caf\u00e9'],
  ['<b>{x}</b> 🎬', '<b>{x}</b> 🎬'],
])('the name %j can be confirmed as it is shown', (name, shown) => {
  expect(typable(name)).toBe(typable(shown));
  expect(typable(name)).toBe(shown);
});
