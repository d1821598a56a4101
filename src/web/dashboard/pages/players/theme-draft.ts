import { withoutBasePath } from '../../../shared/base-path.ts';
import type { Player } from '../../api/api-types.ts';
import { formatColor, parseColor, worstContrast } from './color.ts';

export type ColorName =
  | 'text'
  | 'link'
  | 'linkHover'
  | 'linkActive'
  | 'trackPlayed'
  | 'trackUnplayed'
  | 'trackBackground'
  | 'backgroundTop'
  | 'backgroundBottom'
  | 'backgroundText';

type SwitchName = 'enableApi' | 'enableControls' | 'forceAutoplay' | 'hideTitle' | 'forceLoop';

/** Colors are as typed. */
export type ThemeDraft = { readonly name: string } & Readonly<
  Record<ColorName, string> & Record<SwitchName, boolean>
>;

interface ColorEntry {
  readonly name: ColorName;
  /** The background to stand out from, with the minimum contrast by WCAG 2.2. */
  readonly on?: { readonly background: ColorName; readonly atLeast: number };
}

const minTextContrast = 4.5;
const minIconContrast = 3;

export const colorGroups: readonly {
  readonly name: 'title' | 'controls' | 'seekBar';
  readonly colors: readonly ColorEntry[];
}[] = [
  {
    name: 'title',
    colors: [
      {
        name: 'backgroundText',
        on: { background: 'backgroundTop', atLeast: minTextContrast },
      },
      { name: 'backgroundTop' },
    ],
  },
  {
    name: 'controls',
    colors: [
      { name: 'text', on: { background: 'backgroundBottom', atLeast: minTextContrast } },
      { name: 'link', on: { background: 'backgroundBottom', atLeast: minIconContrast } },
      {
        name: 'linkHover',
        on: { background: 'backgroundBottom', atLeast: minIconContrast },
      },
      {
        name: 'linkActive',
        on: { background: 'backgroundBottom', atLeast: minIconContrast },
      },
      { name: 'backgroundBottom' },
    ],
  },
  {
    name: 'seekBar',
    colors: [{ name: 'trackPlayed' }, { name: 'trackUnplayed' }, { name: 'trackBackground' }],
  },
];

export const switchNames: readonly SwitchName[] = [
  'enableControls',
  'hideTitle',
  'forceAutoplay',
  'forceLoop',
  'enableApi',
];

const colorEntries = colorGroups.flatMap(({ colors }) => colors);

export const colorNames: readonly ColorName[] = colorEntries.map(({ name }) => name);

export function draftOf(player: Player): ThemeDraft {
  const { name = '', ...rest } = player;
  const colors = colorNames.map(color => [color, rest[color]] as const);
  const switches = switchNames.map(name => [name, rest[name]] as const);
  return { name, ...Object.fromEntries([...colors, ...switches]) } as ThemeDraft;
}

export function changesOf(player: Player, draft: ThemeDraft): Record<string, string | boolean | null> {
  const before = draftOf(player);
  const changes: Record<string, string | boolean | null> = {};
  const name = draft.name.trim();
  if (name !== before.name.trim()) changes.name = name === '' ? null : name;
  for (const color of colorNames) {
    const text = canonical(draft[color]);
    if (text !== canonical(before[color])) changes[color] = text;
  }
  for (const key of switchNames) if (draft[key] !== before[key]) changes[key] = draft[key];
  return changes;
}

export function invalidColors(draft: ThemeDraft): ColorName[] {
  return colorNames.filter(name => parseColor(draft[name]) === undefined);
}

export function lowContrast(draft: ThemeDraft, { name, on }: ColorEntry): number | undefined {
  const [text, background] = [parseColor(draft[name]), on && parseColor(draft[on.background])];
  if (on === undefined || text === undefined || background === undefined) return undefined;
  const found = worstContrast(text, background);
  return found < on.atLeast ? found : undefined;
}

export function previewOf(draft: ThemeDraft, logo: { src: string; link: string | null } | undefined) {
  const colors = colorNames
    .filter(name => parseColor(draft[name]) !== undefined)
    .map(name => [name, canonical(draft[name])]);
  return {
    colors: Object.fromEntries(colors) as Record<string, string>,
    ...Object.fromEntries(switchNames.map(name => [name, draft[name]])),
    ...(logo === undefined ? {} : { logo: withoutBasePath(logo.src), link: logo.link }),
  };
}

function canonical(text: string): string {
  const color = parseColor(text);
  return color === undefined ? text : formatColor(color);
}
