import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../../src/web/player/page-options.ts';
import { vodOptionsOf } from '../../../../src/web/player/vod/vod-options.ts';

describe('the options of a live stream', () => {
  const usual = {
    autoplay: true,
    muted: false,
    hideTitle: false,
    hideControls: false,
    hidePoster: false,
    loop: false,
    showSubtitles: false,
    startSeconds: 0,
    endSeconds: undefined,
    sdk: undefined,
  };

  it.each([
    ['', '', usual],
    ['#', '', usual],
    ['#autoplay', '', usual],
    ['#autoplay:false', '', { ...usual, autoplay: false }],
    ['#hide-title;hide-controls;muted', '', { ...usual, hideTitle: true, hideControls: true, muted: true }],
    ['#hideTitle:true;muted:0;', '', { ...usual, hideTitle: true }],
    ['#chromeless', '', { ...usual, hideTitle: true, hideControls: true }],
    ['#chromeless;hide-title:false', '', { ...usual, hideControls: true }],
    [
      '',
      '?muted=true&hideControls=1&autoplay=false',
      { ...usual, autoplay: false, muted: true, hideControls: true },
    ],
    ['#hide-poster', '', { ...usual, hidePoster: true }],
    ['#api', '', { ...usual, sdk: { playerId: undefined, origin: undefined } }],
    [
      `#sdkOrigin:${btoa('https://site.example')};sdkPlayerId:7`,
      '?live=true',
      { ...usual, sdk: { playerId: '7', origin: 'https://site.example' } },
    ],
    ['#muted:false', '?muted=true', usual],
    ['#t=10,20;loop;<script>;::;%zz', '?%zz&x', { ...usual, loop: true, startSeconds: 10, endSeconds: 20 }],
  ])('reads %s %s', (hash, search, expected) => {
    expect(vodOptionsOf(parseAddress(hash, search), true)).toEqual(expected);
  });
});
