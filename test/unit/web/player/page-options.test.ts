import { describe, expect, it } from 'vitest';
import { readPageOptions } from '../../../../src/web/player/page-options.ts';

describe('readPageOptions', () => {
  const usual = { autoplay: true, muted: false, hideTitle: false, hideControls: false };

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
      { autoplay: false, muted: true, hideTitle: false, hideControls: true },
    ],
    ['#muted:false', '?muted=true', usual],
    ['#t=10,20;loop;<script>;::;%zz', '?%zz&x', usual],
  ])('reads %s %s', (hash, search, expected) => {
    expect(readPageOptions(hash, search)).toEqual(expected);
  });
});
