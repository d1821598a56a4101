import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { waitTimeoutMs } from '../support/deadlines.ts';

/** Places of another page to paste embed code into: the HTML around `CODE`. `.wide` has 1000 pixels, `.narrow` 300. */
const places = {
  wide: '<div class="wide">CODE</div>',
  narrow: '<div class="narrow">CODE</div>',
  'beside something tall': '<div class="wide flex">CODE<p style="height:900px;width:200px">Text</p></div>',
  'in a low column':
    '<div class="wide flex" style="flex-direction:column;height:120px">CODE<p>Text</p></div>',
  'in the middle of a column':
    '<div class="narrow flex" style="flex-direction:column;align-items:center;height:900px">CODE</div>',
  'in a grid':
    '<div class="wide" style="display:grid;grid-template-columns:1fr 2fr;height:900px">CODE<p>Text</p></div>',
  'as wide as its content': '<div class="wide flex"><div>CODE</div></div>',
  'among hostile styles': '<div class="wide hostile">CODE</div>',
  'among hostile styles, narrow': '<div class="narrow hostile">CODE</div>',
};

const styles = `
  body { margin: 0; font: 16px serif }
  .wide { width: 1000px }
  .narrow { width: 300px }
  .flex { display: flex }
  iframe { height: auto; border: 5px solid red; max-width: 100% }
  .hostile div { display: flex; padding: 3px; max-height: 200px; min-width: 0 }
  .hostile iframe { height: auto !important; width: 50% !important; min-height: 500px; max-width: 200px; aspect-ratio: 1; padding: 9px }
`;

/** A frame on another page, in CSS pixels. */
export interface MeasuredFrame {
  readonly place: string;
  readonly width: number;
  readonly height: number;
}

/**
 * Pastes embed code into many places of a page of another site, and expects the player to load, to keep its aspect ratio, and to stay inside.
 *
 * @param ratio width divided by height
 * @returns the size at each place
 */
export async function expectAspectRatio(
  browser: Browser,
  code: string,
  ratio: number,
): Promise<ReadonlyMap<string, MeasuredFrame>> {
  const site = http.createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(foreignPage(code));
  });
  await once(site.listen(0, '127.0.0.1'), 'listening');
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(waitTimeoutMs);
  try {
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await page.frameLocator('iframe >> nth=0').locator('#player').waitFor();
    const frames = await page.evaluate<(MeasuredFrame & { readonly isInside: boolean })[]>(`
      [...document.querySelectorAll('section')].map(section => {
        const { width, height, right } = section.querySelector('iframe').getBoundingClientRect();
        const room = section.firstElementChild.getBoundingClientRect();
        return { place: section.title, width, height, isInside: right <= room.right + 0.5 };
      })`);
    for (const { place, width, height, isInside } of frames) {
      expect([place, isInside, width > 150]).toEqual([place, true, true]);
      expect(width / height, `${place}: ${width} x ${height}`).toBeCloseTo(ratio, 2);
    }
    return new Map(frames.map(frame => [frame.place, frame]));
  } finally {
    await page.close();
    site.close();
  }
}

/** The layout is the same without the player: it is loaded once. */
function foreignPage(code: string): string {
  const empty = code.replace(/src="[^"]*"/, 'src="about:blank"');
  const sections = Object.entries(places).map(([name, html], index) => {
    return `<section title="${name}">${html.replace('CODE', () => (index === 0 ? code : empty))}</section>`;
  });
  return `<!doctype html><style>${styles}</style>${sections.join('')}`;
}
