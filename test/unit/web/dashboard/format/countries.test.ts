import { expect, test } from 'vitest';
import { findCountries } from '../../../../../src/web/dashboard/format/countries.ts';

test('countries are found by code, name and a word of it, without those that are chosen', () => {
  expect(findCountries('de')[0]).toBe('DE');
  expect(findCountries('united')).toEqual(['AE', 'GB', 'US']);
  expect(findCountries('united', ['US'])).toEqual(['AE', 'GB']);
  expect(findCountries('aland')).toContain('AX');
  expect(findCountries('atlantis')).toEqual([]);
});
