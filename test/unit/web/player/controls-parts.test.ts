import { expect, it } from 'vitest';
import { playerColors } from '../../../../src/resources/playback/players/player.ts';
import { keyActionOf } from '../../../../src/web/player/controls/keys.ts';
import { Playlist } from '../../../../src/web/player/controls/playlist.ts';
import { changedColors, themeColors } from '../../../../src/web/player/controls/theme-colors.ts';

it('knows the default of every color of a theme, and leaves the player its own look instead', () => {
  const defaults = Object.fromEntries(Object.entries(themeColors).map(([name, [, value]]) => [name, value]));
  expect(defaults).toEqual(playerColors);
  expect(changedColors(playerColors)).toEqual({});
  expect(changedColors({ ...playerColors, link: 'rgba(1, 2, 3, 1)' })).toEqual({ link: 'rgba(1, 2, 3, 1)' });
});

it('finds the neighbors of a video in a list, which follows one that is not in it', () => {
  const list = new Playlist(' /vod/vi1?token=a\n/vod/vi2 /vod/vi3 ');
  expect(list.urls).toEqual(['/vod/vi1?token=a', '/vod/vi2', '/vod/vi3']);
  expect([list.indexOf('vi3'), list.indexOf('vi9'), list.indexOf(undefined)]).toEqual([2, -1, -1]);
  expect(list.neighbor('vi1', 1)).toBe(1);
  expect(list.neighbor('vi3', -1)).toBe(1);
  expect(list.neighbor('vi3', 1)).toBeUndefined();
  expect(list.neighbor('vi1', -1)).toBeUndefined();
  expect(list.neighbor('vi9', 1)).toBe(0);
  expect(list.neighbor('vi9', -1)).toBeUndefined();
  expect(list.neighbor(undefined, 1)).toBeUndefined();
  expect(new Playlist(null).urls).toEqual([]);
});

it('goes on behind a repeated entry of a list, and not behind the first that is equal', () => {
  const list = new Playlist('/vod/vi1 /vod/vi2 /vod/vi1 /vod/vi3');
  expect(list.neighbor('vi1', 1)).toBe(1);
  expect(list.choose(2)).toBe('/vod/vi1');
  // The one before plays until the chosen one is there.
  expect(list.indexOf('vi2')).toBe(1);
  expect([list.indexOf('vi1'), list.neighbor('vi1', 1), list.neighbor('vi1', -1)]).toEqual([2, 3, 1]);
});

it('asks about an entry of a list until there is an answer', async () => {
  const list = new Playlist<string>('/vod/vi1');
  const answers = [undefined, 'Harbour', 'never'];
  const ask = async () => answers.shift();
  expect(await list.describe('/vod/vi1', ask)).toBeUndefined();
  expect(await Promise.all([list.describe('/vod/vi1', ask), list.describe('/vod/vi1', ask)])).toEqual([
    'Harbour',
    'Harbour',
  ]);
  expect(await list.describe('/vod/vi1', ask)).toBe('Harbour');
});

it('tells letters with shift from those without', () => {
  expect(keyActionOf('P')).toEqual({ does: 'previous' });
  expect(keyActionOf('p')).toEqual({ does: 'picture-in-picture' });
  expect(keyActionOf('K')).toEqual({ does: 'toggle-play' });
  expect(keyActionOf('7')).toEqual({ does: 'seek-to', part: 0.7 });
  expect(keyActionOf('constructor')).toBeUndefined();
});
