import { fileURLToPath } from 'node:url';
import type { Overlay } from './encode-options.ts';

/** Pixels of the image. */
const image = {
  path: fileURLToPath(new URL('./sandbox-watermark.png', import.meta.url)),
  width: 720,
  height: 132,
};
const shareOfWidth = 0.36;
/** From the edges, of the shorter side. */
const marginShare = 0.04;

/** What is burned into every picture of the sandbox: into the right lower corner, in proportion to the picture. */
export function sandboxOverlay(picture: { readonly width: number; readonly height: number }): Overlay {
  const fit = Math.min((picture.width * shareOfWidth) / image.width, picture.height / image.height);
  const width = Math.max(1, Math.round(image.width * fit));
  const height = Math.max(1, Math.round(image.height * fit));
  const margin = Math.round(Math.min(picture.width, picture.height) * marginShare);
  return {
    path: image.path,
    x: Math.max(0, picture.width - width - margin),
    y: Math.max(0, picture.height - height - margin),
    width,
    height,
    opacity: 1,
  };
}
