import { expect, it } from 'vitest';
import { lowerFirst } from '../../../../../src/web/dashboard/format/lower-first.ts';

it('puts a label into a sentence, and keeps abbreviations', () => {
  expect(['Stream key', 'HLS URL', 'Endpoint URL', ''].map(lowerFirst)).toEqual([
    'stream key',
    'HLS URL',
    'endpoint URL',
    '',
  ]);
});
