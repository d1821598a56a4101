import { expect, it } from 'vitest';
import { changedText } from '../../../../../src/web/dashboard/pages/activity/changed-text.ts';

it('names changed fields in words, and the two fields of the visibility once', () => {
  expect(changedText(['title', 'public', 'listed'])).toBe('title, visibility');
  expect(changedText(['slug', 'accentColor', 'mp4Support'])).toBe('address, accent color, mp4 support');
});
