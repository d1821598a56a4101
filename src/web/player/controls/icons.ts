/** Shapes of icons of 24 units. Those in `stroked` are lines. */
const filled = {
  play: 'M8 5.1v13.8a1 1 0 0 0 1.54.84l10.6-6.9a1 1 0 0 0 0-1.68L9.54 4.26A1 1 0 0 0 8 5.1Z',
  pause:
    'M7.4 4.5h2.2c.8 0 1.4.6 1.4 1.4v12.2c0 .8-.6 1.4-1.4 1.4H7.4c-.8 0-1.4-.6-1.4-1.4V5.9c0-.8.6-1.4 1.4-1.4Zm7 0h2.2c.8 0 1.4.6 1.4 1.4v12.2c0 .8-.6 1.4-1.4 1.4h-2.2c-.8 0-1.4-.6-1.4-1.4V5.9c0-.8.6-1.4 1.4-1.4Z',
  next: 'M5.5 5.9v12.2a.9.9 0 0 0 1.4.75l8.9-6.1a.9.9 0 0 0 0-1.5L6.9 5.15a.9.9 0 0 0-1.4.75ZM17.2 5h1.3c.3 0 .5.2.5.5v13c0 .3-.2.5-.5.5h-1.3a.5.5 0 0 1-.5-.5v-13c0-.3.2-.5.5-.5Z',
} as const;

const stroked = {
  volume: 'M4.5 9.5v5h3.2l4.8 4V5.5l-4.8 4H4.5Zm11.5-.4a4.3 4.3 0 0 1 0 5.8M18.6 6.5a8 8 0 0 1 0 11',
  'volume-low': 'M4.5 9.5v5h3.2l4.8 4V5.5l-4.8 4H4.5Zm11.5-.4a4.3 4.3 0 0 1 0 5.8',
  muted: 'M4.5 9.5v5h3.2l4.8 4V5.5l-4.8 4H4.5Zm11.7.2 4.6 4.6m0-4.6-4.6 4.6',
  captions:
    'M5.7 5.5h12.6c1.2 0 2.2 1 2.2 2.2v8.6c0 1.2-1 2.2-2.2 2.2H5.7a2.2 2.2 0 0 1-2.2-2.2V7.7c0-1.2 1-2.2 2.2-2.2Zm4.7 5.2a2 2 0 1 0 0 2.6m6.3-2.6a2 2 0 1 0 0 2.6',
  settings:
    'M4 7.5h8.5m5 0H20M4 16.5h2.5m5 0H20M17.5 7.5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Zm-6 9a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Z',
  share:
    'M12 14.5V4.2m0 0L8.2 8M12 4.2 15.8 8M7.5 11H6.7c-1 0-1.7.8-1.7 1.7v5.6c0 1 .8 1.7 1.7 1.7h10.6c1 0 1.7-.8 1.7-1.7v-5.6c0-1-.8-1.7-1.7-1.7h-.8',
  clip: 'M9.2 6.8a2.7 2.7 0 1 1-5.4 0 2.7 2.7 0 0 1 5.4 0Zm0 10.4a2.7 2.7 0 1 1-5.4 0 2.7 2.7 0 0 1 5.4 0ZM8.7 8.6 20 17.6M8.7 15.4 20 6.4',
  theatre:
    'M4.7 7h14.6c.7 0 1.2.5 1.2 1.2v7.6c0 .7-.5 1.2-1.2 1.2H4.7c-.7 0-1.2-.5-1.2-1.2V8.2c0-.7.5-1.2 1.2-1.2Z',
  pip: 'M20.5 10.5V7.7c0-1.2-1-2.2-2.2-2.2H5.7c-1.2 0-2.2 1-2.2 2.2v8.6c0 1.2 1 2.2 2.2 2.2h3.8M13.7 13.5h5.6c.7 0 1.2.5 1.2 1.2v2.6c0 .7-.5 1.2-1.2 1.2h-5.6c-.7 0-1.2-.5-1.2-1.2v-2.6c0-.7.5-1.2 1.2-1.2Z',
  airplay:
    'M7 16.5H5.7a2.2 2.2 0 0 1-2.2-2.2V7.7c0-1.2 1-2.2 2.2-2.2h12.6c1.2 0 2.2 1 2.2 2.2v6.6c0 1.2-1 2.2-2.2 2.2H17m-5-2.5 4.2 5H7.8l4.2-5Z',
  fullscreen:
    'M4.5 9V6c0-.8.7-1.5 1.5-1.5h3m6 0h3c.8 0 1.5.7 1.5 1.5v3m0 6v3c0 .8-.7 1.5-1.5 1.5h-3m-6 0H6c-.8 0-1.5-.7-1.5-1.5v-3',
  'exit-fullscreen':
    'M9 4.5v3C9 8.3 8.3 9 7.5 9h-3m15 0h-3c-.8 0-1.5-.7-1.5-1.5v-3m0 15v-3c0-.8.7-1.5 1.5-1.5h3m-15 0h3c.8 0 1.5.7 1.5 1.5v3',
  replay: 'M5.2 12.8a6.9 6.9 0 1 0 2.2-5.6L4.8 9.5M4.6 5.2v4.4H9',
  close: 'm6 6 12 12M18 6 6 18',
} as const;

export type IconName = keyof typeof filled | keyof typeof stroked;

export function icon(name: IconName, slot?: string): string {
  const isFilled = name in filled;
  const path = isFilled ? filled[name as keyof typeof filled] : stroked[name as keyof typeof stroked];
  const attributes = `${slot === undefined ? '' : ` slot="${slot}"`}${isFilled ? '' : ' class="stroke"'}`;
  return `<svg viewBox="0 0 24 24" aria-hidden="true"${attributes}><path d="${path}"/></svg>`;
}
