import type { LevelDetails } from 'hls.js';
import { expect, test } from 'vitest';
import { newestFillerReason, publisherMediaEnd } from '../../../../../src/web/player/live/live-playlist.ts';

interface Listed {
  readonly tag?: string;
  readonly gap?: boolean;
  readonly name?: string;
}

/** Segments of 2 s, as hls.js reads them. */
function playlistOf(listed: readonly Listed[], partSequence?: number): LevelDetails {
  const fragments = listed.map(({ tag, gap = false, name = 'segment' }, sn) => ({
    sn,
    end: 2 * (sn + 1),
    gap,
    relurl: `${name}-${sn}.m4s`,
    tagList: [['INF', '2.00000'], ...(tag === undefined ? [] : [['EXT-X-MILLRACE-FILLER', tag]])],
  }));
  const partList = partSequence === undefined ? null : [{ fragment: { sn: partSequence } }];
  return { fragments, partList } as unknown as LevelDetails;
}

test.each<[string, Listed[], number | undefined, string | undefined]>([
  ['media', [{}], undefined, undefined],
  ['a still', [{}, { tag: 'NO-MEDIA' }], undefined, 'no-media'],
  ['a still after a stop', [{}, { tag: 'STOPPED' }], undefined, 'stopped'],
  ['a gap after a stop', [{}, { tag: 'STOPPED', gap: true }], undefined, 'stopped'],
  ['a gap', [{}, { gap: true }], undefined, undefined],
  ['a part of the publisher who is back', [{}, { tag: 'STOPPED' }], 2, undefined],
  ['media with the name of a still', [{}, { name: 'stopped' }], undefined, undefined],
])('a playlist that ends with %s', (_, listed, partSequence, reason) => {
  expect(newestFillerReason(playlistOf(listed, partSequence))).toBe(reason);
});

test("the publisher's media ends before stills and gaps", () => {
  const listed = [{ tag: 'NO-MEDIA' }, {}, {}, { tag: 'NO-MEDIA' }, { gap: true }, { tag: 'STOPPED' }];
  expect(publisherMediaEnd(playlistOf(listed))).toBe(6);
  expect(publisherMediaEnd(playlistOf([{ name: 'still' }]))).toBe(2);
});
