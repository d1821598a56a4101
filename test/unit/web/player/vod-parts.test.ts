import { describe, expect, it } from 'vitest';
import { isRepeatable, keyActionOf } from '../../../../src/web/player/controls/keys.ts';
import { nextRate } from '../../../../src/web/player/media/playback-rates.ts';
import { compareLevels, qualityLabel } from '../../../../src/web/player/media/qualities.ts';
import { PlayRange } from '../../../../src/web/player/vod/play-range.ts';
import { parseVodState, stateUrl } from '../../../../src/web/player/vod/vod-state.ts';
import { formatTime, parseTime } from '../../../../src/web/shared/time-text.ts';

describe('times', () => {
  it.each([
    [0, '0:00'],
    [5.9, '0:05'],
    [29.999_992, '0:30'],
    [61, '1:01'],
    [3600, '1:00:00'],
    [36_125, '10:02:05'],
    [-1, '0:00'],
    [Number.NaN, '0:00'],
    [Number.POSITIVE_INFINITY, '0:00'],
  ])('of %d s are shown as %s', (seconds, shown) => {
    expect(formatTime(seconds)).toBe(shown);
  });

  it.each([
    ['90', 90],
    [' 1:30 ', 90],
    ['1:00:00.25', 3600.25],
    ['', undefined],
    ['1:2:3:4', undefined],
    ['-1', undefined],
    ['1e3', undefined],
    ['Infinity', undefined],
  ])('are read from %j', (text, seconds) => {
    expect(parseTime(text)).toBe(seconds);
  });
});

describe('PlayRange', () => {
  it('is over when playing passes its end, once', () => {
    const range = new PlayRange(2, 5);
    expect([2, 4.9, 5.1, 5.2].map(seconds => range.hasReachedEnd(seconds))).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it('is not over for somebody who jumped behind its end', () => {
    const range = new PlayRange(2, 5);
    expect(range.hasReachedEnd(3)).toBe(false);
    range.seeked(7);
    expect([7, 8].map(seconds => range.hasReachedEnd(seconds))).toEqual([false, false]);
    range.seeked(4);
    expect([4, 5].map(seconds => range.hasReachedEnd(seconds))).toEqual([false, true]);
  });

  it('is over for somebody who jumped before its end, although nobody looked until it had passed', () => {
    const range = new PlayRange(2, 5);
    range.seeked(2);
    expect(range.hasReachedEnd(5.6)).toBe(true);
  });

  it('tells how much is left', () => {
    expect(new PlayRange(2, 5).remainingSeconds(4)).toBe(1);
    expect(new PlayRange(2, 5).remainingSeconds(6)).toBeUndefined();
    expect(new PlayRange(2, undefined).remainingSeconds(6)).toBeUndefined();
  });
});

describe('keys', () => {
  it.each([
    [' ', { does: 'toggle-play' }],
    ['K', { does: 'toggle-play' }],
    ['ArrowLeft', { does: 'seek-by', seconds: -5 }],
    ['l', { does: 'seek-by', seconds: 10 }],
    ['7', { does: 'seek-to', part: 0.7 }],
    ['End', { does: 'seek-to', part: 1 }],
    ['>', { does: 'rate', steps: 1 }],
    ['Tab', undefined],
    ['constructor', undefined],
    ['10', undefined],
  ])('%j does %o', (key, action) => {
    expect(keyActionOf(key)).toEqual(action);
  });

  it('repeat only where holding them down makes sense', () => {
    expect(isRepeatable(keyActionOf('ArrowRight')!)).toBe(true);
    expect(isRepeatable(keyActionOf('m')!)).toBe(false);
  });

  it('step through the speeds on offer and stay at their ends', () => {
    expect([nextRate(1, 1), nextRate(1, -1), nextRate(2, 1), nextRate(0.25, -1), nextRate(1.1, 1)]).toEqual([
      1.25, 0.75, 2, 0.25, 1.25,
    ]);
  });
});

describe('qualities', () => {
  const level = (name: string) => ({
    url: [`https://m.test/vod/v/hls/${name}`],
    width: 1280,
    height: 534,
    bitrate: 1,
  });

  it('are named by their rendition, else by the shorter side', () => {
    expect(qualityLabel(level('720p/manifest.m3u8?avh=a/b'))).toBe('720p');
    expect(qualityLabel(level('manifest.m3u8'))).toBe('534p');
    expect(qualityLabel({ url: [], width: 720, height: 1280 })).toBe('720p');
  });

  it.each([
    [['240p'], ['240p'], 'same'],
    [['240p'], ['240p', '360p', '720p'], 'added'],
    [['720p'], ['240p', '720p'], 'added'],
    [['360p', '720p'], ['240p', '360p', '480p', '720p', '1080p'], 'added'],
    [['240p'], ['360p'], 'different'],
    [['720p'], [], 'different'],
    [['240p', '360p'], ['240p'], 'different'],
  ])('%j and then %j are %s', (before, after, expected) => {
    const levels = (names: string[], avh: string) =>
      names.map(name => level(`${name}/manifest.m3u8?avh=${avh}`));
    expect(compareLevels(levels(before, 'one'), levels(after, 'two'))).toBe(expected);
  });
});

describe('the state of a video', () => {
  const hls = '/vod/vi1/token/pt1/hls/manifest.m3u8?avh=s1';

  it('is read whatever is left out or wrong in it', () => {
    const odd = {
      hls,
      title: 7,
      duration: -1,
      height: '720',
      mp4: null,
      captions: [{ language: 'en' }, null],
      chapters: {},
      theme: { colors: { text: 'red', link: 3 }, logo: '/l.png', link: 'javascript:alert(1)' },
    };
    expect(parseVodState(JSON.stringify(odd), '')).toEqual({
      videoId: '',
      title: '',
      playable: false,
      failed: false,
      hls,
      poster: '',
      hasThumbnail: false,
      captions: [],
      chapters: [],
      duration: undefined,
      width: undefined,
      height: undefined,
      mp4: undefined,
      storyboard: undefined,
      revision: 0,
      theme: {
        colors: { text: 'red' },
        enableApi: true,
        enableControls: true,
        forceAutoplay: false,
        forceLoop: false,
        hideTitle: false,
        logo: { src: '/l.png', link: undefined },
      },
    });
  });

  it('keeps what is right', () => {
    const track = { language: 'en', label: 'English', src: '/c.vtt', default: true };
    const state = parseVodState(
      JSON.stringify({ hls, playable: true, duration: 3.5, captions: [track], revision: 4 }),
      '',
    );
    expect(state).toMatchObject({
      playable: true,
      duration: 3.5,
      captions: [track],
      revision: 4,
      theme: undefined,
    });
  });

  it.each(['{}', 'null', '[]', '{"hls":""}', 'nonsense'])('is refused when it is %s', json => {
    expect(() => parseVodState(json, '')).toThrow();
  });

  it('is asked for under the same token and session', () => {
    expect(stateUrl(parseVodState(JSON.stringify({ hls }), ''))).toBe('/vod/vi1/token/pt1/state?avh=s1');
  });
});
