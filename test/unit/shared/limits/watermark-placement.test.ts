import { expect, test } from 'vitest';
import { type Placement, placeWatermark } from '../../../../src/shared/limits/watermark-placement.ts';

const image = { width: 200, height: 100 };
const video = { width: 1280, height: 720 };

test.each<[string, Placement, string]>([
  ['nothing said', {}, '200x100 at 0,0'],
  ['its own size', { width: 'initial', height: 'initial' }, '200x100 at 0,0'],
  ['a width keeps the shape', { width: '100px' }, '100x50 at 0,0'],
  ['a height keeps the shape', { height: '10%' }, '144x72 at 0,0'],
  ['both do not', { width: '50%', height: '50%' }, '640x360 at 0,0'],
  ['from the left and top', { left: '10px', top: '5%' }, '200x100 at 10,36'],
  ['from the right and bottom', { right: '10px', bottom: '10px' }, '200x100 at 1070,610'],
  ['shares of the picture, not of what is left', { right: '0%', bottom: '50%' }, '200x100 at 1080,260'],
  ['left and top win', { left: '1px', right: '1px', top: '2px', bottom: '2px' }, '200x100 at 1,2'],
  ['larger than the picture', { width: '5000px', height: '5000px' }, '1280x720 at 0,0'],
  ['smaller than a pixel', { width: '0%', height: '0px' }, '1x1 at 0,0'],
  ['wider than the picture, in its shape', { width: '200%' }, '1280x640 at 0,0'],
  ['beyond the picture', { left: '2000px', top: '99%' }, '200x100 at 1080,620'],
  ['beyond the other side', { right: '2000px' }, '200x100 at 0,0'],
])('%s', (_, placement, expected) => {
  const { width, height, x, y } = placeWatermark(placement, image, video);
  expect(`${width}x${height} at ${x},${y}`).toBe(expected);
});

test('an image that is larger than a small video is scaled down', () => {
  const placed = placeWatermark({ right: '0px' }, { width: 400, height: 400 }, { width: 320, height: 180 });
  expect(placed).toMatchObject({ width: 180, height: 180, x: 140, y: 0 });
  expect(placeWatermark({}, image, { width: 2, height: 2 })).toMatchObject({
    width: 2,
    height: 1,
    x: 0,
    y: 0,
  });
});

test.each<[string | undefined, number]>([
  [undefined, 1],
  ['0%', 0],
  ['35.5%', 0.355],
  ['100%', 1],
  ['250%', 1],
])('an opacity of %s is %s', (opacity, expected) => {
  expect(placeWatermark({ opacity }, image, video).opacity).toBeCloseTo(expected);
});
