import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../../../src/web/player/page-options.ts';
import { vodOptionsOf } from '../../../../../src/web/player/vod/vod-options.ts';

describe('options of a video', () => {
  const usual = {
    autoplay: false,
    muted: false,
    loop: false,
    hideTitle: false,
    hideControls: false,
    hidePoster: false,
    showSubtitles: false,
    startSeconds: 0,
    endSeconds: undefined,
    sdk: undefined,
  };

  it.each([
    ['', '', {}],
    [
      '#autoplay;loop;hide-title;hide-controls;show-subtitles;hide-poster',
      '',
      {
        autoplay: true,
        loop: true,
        hideTitle: true,
        hideControls: true,
        showSubtitles: true,
        hidePoster: true,
      },
    ],
    ['#chromeless', '', { hideTitle: true, hideControls: true }],
    ['#autoplay:false;muted:true', '?autoplay=true', { muted: true }],
    [
      '',
      '?id=vi1&autoplay=true&muted=undefined&loop=true&hidePoster=true&showSubtitles=true&ts=17',
      {
        autoplay: true,
        loop: true,
        hidePoster: true,
        showSubtitles: true,
      },
    ],
    ['#t=10', '', { startSeconds: 10 }],
    ['#t=10,20', '', { startSeconds: 10, endSeconds: 20 }],
    ['#t=,1:30', '', { endSeconds: 90 }],
    ['#t:00:01:00.5,1:00:00', '', { startSeconds: 60.5, endSeconds: 3600 }],
    ['#t=20,10', '', { startSeconds: 20 }],
    ['#t=-5,x', '', {}],
    ['#t=1e9,9999999999999', '', {}],
    ['#api', '', { sdk: { playerId: undefined, origin: undefined } }],
    ['#api:false', '', {}],
    [
      '#api;sdkOrigin:aHR0cHM6Ly9zaXRlLnRlc3Q6ODA4MA==;sdkPlayerId:3;',
      '',
      {
        sdk: { playerId: '3', origin: 'https://site.test:8080' },
      },
    ],
    ['#sdkPlayerId:3;sdkOrigin:%%%', '', { sdk: { playerId: '3', origin: undefined } }],
    [
      `#api;sdkOrigin:${btoa('javascript:alert(1)')}`,
      '',
      { sdk: { playerId: undefined, origin: undefined } },
    ],
    ['#adTagUrl:https%3A%2F%2Fads.test%3Fa%3D1;;=;:', '?%zz', {}],
  ])('reads %s %s', (hash, search, expected) => {
    expect(vodOptionsOf(parseAddress(hash, search), false)).toEqual({ ...usual, ...expected });
  });
});
