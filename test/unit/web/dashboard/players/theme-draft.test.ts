import { describe, expect, it } from 'vitest';
import { playerColors, playerSwitches } from '../../../../../src/resources/playback/players/player.ts';
import type { Player } from '../../../../../src/web/dashboard/api/api-types.ts';
import {
  formatColor,
  hexOf,
  parseColor,
  worstContrast,
} from '../../../../../src/web/dashboard/pages/players/color.ts';
import {
  changesOf,
  colorGroups,
  colorNames,
  draftOf,
  invalidColors,
  lowContrast,
  previewOf,
  switchNames,
} from '../../../../../src/web/dashboard/pages/players/theme-draft.ts';

const player: Player = {
  playerId: 'pl7Zx4CvBn2Mq9WeRt5YuIoP',
  name: 'Night',
  ...playerColors,
  ...playerSwitches,
  createdAt: '2026-03-04T05:06:07+00:00',
  updatedAt: '2026-03-04T05:06:07+00:00',
  assets: { logo: null, link: null },
};

describe('colours', () => {
  it.each([
    ['rgba(88, 131, 255, .95)', 'rgba(88, 131, 255, .95)', '#5883ff'],
    ['RGBA(0,0,0,0.7)', 'rgba(0, 0, 0, .7)', '#000000'],
    ['rgb(1, 2, 3)', 'rgba(1, 2, 3, 1)', '#010203'],
    [' #5883ff ', 'rgba(88, 131, 255, 1)', '#5883ff'],
    ['fff', 'rgba(255, 255, 255, 1)', '#ffffff'],
    ['#00000080', 'rgba(0, 0, 0, .5)', '#000000'],
    ['#f00c', 'rgba(255, 0, 0, .8)', '#ff0000'],
  ])('of %s are written as %s', (text, written, hex) => {
    const color = parseColor(text)!;
    expect([formatColor(color), hexOf(color)]).toEqual([written, hex]);
  });

  it.each([
    '',
    'red',
    'rgba(256, 0, 0, 1)',
    'rgba(0, 0, 0, 2)',
    'rgba(0, 0, 0, )',
    '#12345',
    'rgba(0 0 0 / 1)',
  ])('are not read from "%s"', text => {
    expect(parseColor(text)).toBeUndefined();
  });

  it('are compared where the picture behind makes it hardest', () => {
    const of = (text: string, behind: string) => worstContrast(parseColor(text)!, parseColor(behind)!);
    expect(of('#fff', '#000')).toBeCloseTo(21);
    expect(of('#fff', 'rgba(0, 0, 0, .7)')).toBeCloseTo(8.4, 0);
    expect(of('#fff', 'rgba(0, 0, 0, 0)')).toBe(1);
    // Some picture between black and white is as grey as the text.
    expect(of('#888', 'rgba(0, 0, 0, .2)')).toBe(1);
  });
});

describe('the draft of a theme', () => {
  it('has every colour and switch that the API has', () => {
    expect([...colorNames].sort()).toEqual(Object.keys(playerColors).sort());
    expect(switchNames.toSorted()).toEqual(Object.keys(playerSwitches).sort());
  });

  it('sends what was changed, in the form of the API', () => {
    const draft = draftOf(player);
    expect(changesOf(player, draft)).toEqual({});
    expect(changesOf(player, { ...draft, text: 'rgba(255,255,255,1.0)', name: 'Night ' })).toEqual({});
    expect(changesOf(player, { ...draft, text: '#123456', hideTitle: true, name: ' ' })).toEqual({
      text: 'rgba(18, 52, 86, 1)',
      hideTitle: true,
      name: null,
    });
  });

  it('knows what is no colour, which no preview is shown', () => {
    const draft = { ...draftOf(player), link: 'rgba(' };
    expect(invalidColors(draft)).toEqual(['link']);
    expect(Object.keys(previewOf(draft, undefined).colors)).not.toContain('link');
  });

  it('warns of what cannot be read well', () => {
    const title = colorGroups[0]!.colors[0]!;
    expect(lowContrast(draftOf(player), title)).toBeUndefined();
    expect(lowContrast({ ...draftOf(player), backgroundTop: 'rgba(255, 255, 255, .5)' }, title)).toBe(1);
  });
});
