import { expect, test } from 'vitest';
import { placeWatermark as placeOnServer } from '../../../../../src/vod/encode/watermark-placement.ts';
import {
  type Placement,
  placeWatermark,
  type Size,
} from '../../../../../src/web/dashboard/pages/watermarks/placement.ts';

const offsets = [undefined, '0px', '10px', '5%', '33.3%', '5000px'];
const sizes = [undefined, 'initial', '0%', '100px', '15.5%', '200%'];
const images: readonly [image: Size, video: Size][] = [
  [
    { width: 200, height: 100 },
    { width: 1_280, height: 720 },
  ],
  [
    { width: 400, height: 400 },
    { width: 320, height: 180 },
  ],
  [
    { width: 333, height: 77 },
    { width: 1_080, height: 1_920 },
  ],
];

function* placements(): Generator<Placement> {
  for (const near of offsets) {
    for (const far of offsets) {
      for (const width of sizes) {
        for (const height of sizes) {
          const all = {
            left: near,
            top: far,
            right: far,
            bottom: near,
            width,
            height,
            opacity: far === undefined ? undefined : '35.5%',
          };
          yield Object.fromEntries(Object.entries(all).filter(([, text]) => text !== undefined));
        }
      }
    }
  }
}

test('a watermark is shown where the server puts it', () => {
  const wrong: unknown[] = [];
  for (const [image, video] of images) {
    for (const placement of placements()) {
      const shown = JSON.stringify(placeWatermark(placement, image, video));
      const put = JSON.stringify(placeOnServer({ ...placement }, image, video));
      if (shown !== put) wrong.push({ placement, image, video, shown, put });
    }
  }
  expect(wrong).toEqual([]);
});

test('one dimension alone keeps the shape, and the far edges count from there', () => {
  const [image, video] = images[0]!;
  expect(placeWatermark({ right: '10px', bottom: '5%', width: '100px' }, image, video)).toEqual({
    width: 100,
    height: 50,
    x: 1_170,
    y: 634,
    opacity: 1,
  });
});
