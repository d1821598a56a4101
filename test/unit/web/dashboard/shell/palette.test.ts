import { expect, test } from 'vitest';
import { findEntries, type PaletteEntry } from '../../../../../src/web/dashboard/shell/palette/entry.ts';

const entries: readonly PaletteEntry[] = [
  { id: 'videos', label: 'Videos', icon: 'video', also: 'uploads media' },
  { id: 'upload', label: 'Upload videos', icon: 'upload' },
  { id: 'token', label: 'Upload tokens', icon: 'token', also: 'delegated' },
  { id: 'activity', label: 'Activity', icon: 'clock', also: 'audit log' },
];

test.each([
  ['up', ['upload', 'token', 'videos']],
  ['UPLOAD  vid', ['upload', 'videos']],
  ['videos', ['videos', 'upload']],
  ['audit', ['activity']],
  ['áctivity', ['activity']],
  ['pload', []],
  ['upload nothing', []],
])('“%s” finds %j, best first', (query, ids) => {
  expect(findEntries(entries, query, 5).map(({ id }) => id)).toEqual(ids);
});
