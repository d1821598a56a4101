import { expect, test } from 'vitest';
import { imageProblem } from '../../../../../src/web/dashboard/pages/watermarks/image-check.ts';

test('images that a watermark cannot be are refused before they are sent', () => {
  const png = { type: 'image/png', size: 1_000 };
  expect(imageProblem(png, { width: 4_096, height: 10 })).toBeUndefined();
  expect(imageProblem(png, { width: 4_097, height: 10 })).toContain('4097 × 10');
  expect(imageProblem({ ...png, size: 9 * 1024 ** 2 })).toContain('larger than 8 MB');
  expect(imageProblem({ type: 'image/gif', size: 10 })).toBe('This isn’t a PNG or JPEG image.');
});
