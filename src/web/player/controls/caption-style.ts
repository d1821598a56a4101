const storageKey = 'millrace.captions';

export const captionSizes = [0.5, 0.75, 1, 1.5, 2] as const;
export const captionOpacities = [0, 0.25, 0.5, 0.75, 1] as const;
export const captionColors = {
  white: '#ffffff',
  yellow: '#ffff00',
  green: '#00ff00',
  cyan: '#00ffff',
  blue: '#0000ff',
  magenta: '#ff00ff',
  red: '#ff0000',
  black: '#000000',
} as const;
const edgeShadows = {
  none: 'none',
  shadow: '0.07em 0.07em 0.1em #000',
  outline: '-1px -1px 1px #000, 1px -1px 1px #000, -1px 1px 1px #000, 1px 1px 1px #000',
  raised: '1px 1px #000, 2px 2px #000',
} as const;

export type CaptionColor = keyof typeof captionColors;
export type CaptionEdge = keyof typeof edgeShadows;
export const captionEdges = Object.keys(edgeShadows) as CaptionEdge[];

export interface CaptionStyle {
  readonly size: number;
  readonly color: CaptionColor;
  readonly background: CaptionColor;
  readonly opacity: number;
  readonly edge: CaptionEdge;
}

export const defaultCaptionStyle: CaptionStyle = {
  size: 1,
  color: 'white',
  background: 'black',
  opacity: 0.75,
  edge: 'none',
};

/** Applies the caption style that the viewer has chosen. */
export class CaptionSheet {
  readonly #sheet = new CSSStyleSheet();
  #style = loadCaptionStyle();

  constructor() {
    this.#sheet.replaceSync(captionCss(this.#style));
  }

  get style(): CaptionStyle {
    return this.#style;
  }

  change(style: CaptionStyle): void {
    this.#style = style;
    saveCaptionStyle(style);
    this.#sheet.replaceSync(captionCss(style));
  }

  applyTo({ shadowRoot }: HTMLElement): void {
    if (shadowRoot !== null && !shadowRoot.adoptedStyleSheets.includes(this.#sheet))
      shadowRoot.adoptedStyleSheets = [...shadowRoot.adoptedStyleSheets, this.#sheet];
  }
}

/** Shared by all players of a site. */
function loadCaptionStyle(): CaptionStyle {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<CaptionStyle>;
    const isKnown = ([name, value]: [string, unknown]) =>
      choices[name as keyof CaptionStyle]?.includes(value);
    return { ...defaultCaptionStyle, ...Object.fromEntries(Object.entries(stored).filter(isKnown)) };
  } catch {
    return defaultCaptionStyle;
  }
}

function saveCaptionStyle(style: CaptionStyle): void {
  try {
    localStorage.setItem(storageKey, JSON.stringify(style));
  } catch {
    // A frame on another site may have no storage.
  }
}

const choices: Readonly<Record<keyof CaptionStyle, readonly unknown[]>> = {
  size: captionSizes,
  color: Object.keys(captionColors),
  background: Object.keys(captionColors),
  opacity: captionOpacities,
  edge: captionEdges,
};

/** Style sheet of the shadow tree that has the video element. */
function captionCss({ size, color, background, opacity, edge }: CaptionStyle): string {
  const percent = Math.round(opacity * 100);
  return `
    video::cue {
      padding: 0.1em 0.3em;
      background: color-mix(in srgb, ${captionColors[background]} ${percent}%, transparent);
      color: ${captionColors[color]};
      font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
      ${size === 1 ? '' : `font-size: ${size * 100}%;`}
      line-height: 1.35;
      text-shadow: ${edgeShadows[edge]};
    }
    video {
      background: none;
    }
    video::-webkit-media-text-track-container {
      transform: translateY(calc(-1 * var(--millrace-caption-lift, 0px)));
      transition: transform 180ms ease-out;
    }`;
}
