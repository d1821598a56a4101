import { fileURLToPath } from 'node:url';
import type { Overlay } from './encode-options.ts';

const image = {
  path: fileURLToPath(new URL('./sandbox-watermark.png', import.meta.url)),
  width: 720,
  height: 132,
};
const widthShare = 0.36;
const marginShare = 0.04;

export function sandboxOverlay(size: { readonly width: number; readonly height: number }): Overlay {
  const fit = Math.min((size.width * widthShare) / image.width, size.height / image.height);
  const width = Math.max(1, Math.round(image.width * fit));
  const height = Math.max(1, Math.round(image.height * fit));
  const margin = Math.round(Math.min(size.width, size.height) * marginShare);
  return {
    path: image.path,
    x: Math.max(0, size.width - width - margin),
    y: Math.max(0, size.height - height - margin),
    width,
    height,
    opacity: 1,
  };
}
