import { describe, expect, it } from 'vitest';
import {
  clipTimecodeMs,
  languageProblem,
  languages,
  placementProblem,
} from '../../../../../src/resources/videos/videos/video.ts';

describe('a timecode', () => {
  it.each([
    ['00:00:00', 0],
    ['01:02:03', 3_723_000],
    ['100:00:00', 360_000_000],
    ['00:00:01.5', 1_500],
    ['00:00:01.05', 1_050],
    ['00:00:01.007', 1_007],
    ['00:00:01:05', 1_200],
    ['00:00:01:24', 1_960],
    ['0', 0],
    ['90', 90_000],
    ['9999999', 9_999_999_000],
  ])('%s is %d ms', (text, ms) => {
    expect(clipTimecodeMs(text)).toBe(ms);
  });

  it.each([
    '',
    '1:00',
    '00:60:00',
    '00:00:60',
    '00:00:00.',
    '00:00:00.1234',
    '10000000',
    '-1',
    '1.5',
    ' 1',
    '00:00',
  ])('%j is none', text => {
    expect(clipTimecodeMs(text)).toBeUndefined();
  });
});

describe('a language', () => {
  it.each([...languages])('%s is known', tag => {
    expect(languageProblem(tag)).toBeUndefined();
  });

  it.each(['EN', 'fr-BE', 'eng', 'xx'])('%s is not', tag => {
    expect(languageProblem(tag)).toBe('The "language" attribute is not valid.');
  });

  it.each(['', 'e n', 'en_GB', 'en-', '42', 'é'])('%j is no tag', tag => {
    expect(languageProblem(tag)).toMatch(/must contain only letters and dashes/);
  });
});

describe('a placement', () => {
  it.each([
    ['top', '10px'],
    ['left', '0%'],
    ['right', '12.5%'],
    ['width', 'initial'],
    ['height', '200px'],
    ['opacity', '100%'],
  ] as const)('takes %s %s', (field, value) => {
    expect(placementProblem(field, value)).toBeUndefined();
  });

  it.each([
    ['top', '10'],
    ['top', 'initial'],
    ['left', '-1px'],
    ['bottom', '1em'],
    ['width', ''],
    ['height', '100000px'],
    ['opacity', '10px'],
    ['opacity', '100.1%'],
  ] as const)('refuses %s %j', (field, value) => {
    expect(placementProblem(field, value)).toMatch(/^This value should be/);
  });
});
