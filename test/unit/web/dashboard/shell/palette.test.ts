import { expect, test } from 'vitest';
import { findEntries } from '../../../../../src/web/dashboard/shell/palette/find-entries.ts';

const entries = [
  { id: 'videos', label: 'Videos', also: 'uploads media' },
  { id: 'upload', label: 'Upload videos' },
  { id: 'token', label: 'Upload tokens', also: 'delegated' },
  { id: 'activity', label: 'Activity', also: 'audit log' },
  { id: 'trash', label: 'ゴミ箱を空にする' },
];

test.each([
  ['up', ['upload', 'token', 'videos']],
  ['UPLOAD  vid', ['upload', 'videos']],
  ['videos', ['videos', 'upload']],
  ['audit', ['activity']],
  ['áctivity', ['activity']],
  ['空に', ['trash']],
  ['pload', []],
  ['upload nothing', []],
  ['\\ 💥', []],
])('“%s” finds %j, best first', (query, ids) => {
  expect(findEntries(entries, query, 5).map(({ id }) => id)).toEqual(ids);
});
