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
  readonly label: string;
  readonly hint?: string;
  /** The background to stand out from, with the minimum contrast by WCAG 2.2. */
  readonly on?: { readonly background: ColorName; readonly atLeast: number };
}

const minTextContrast = 4.5;
const minIconContrast = 3;

export const colorGroups: readonly { readonly title: string; readonly colors: readonly ColorEntry[] }[] = [
  {
    title: 'Title',
    colors: [
      {
        name: 'backgroundText',
        label: 'Title text',
        on: { background: 'backgroundTop', atLeast: minTextContrast },
      },
      { name: 'backgroundTop', label: 'Title background' },
    ],
  },
  {
    title: 'Controls',
    colors: [
      { name: 'text', label: 'Time', on: { background: 'backgroundBottom', atLeast: minTextContrast } },
      { name: 'link', label: 'Buttons', on: { background: 'backgroundBottom', atLeast: minIconContrast } },
      {
        name: 'linkHover',
        label: 'Button, hovered',
        on: { background: 'backgroundBottom', atLeast: minIconContrast },
      },
      {
        name: 'linkActive',
        label: 'Button, pressed',
        on: { background: 'backgroundBottom', atLeast: minIconContrast },
      },
      { name: 'backgroundBottom', label: 'Controls background' },
    ],
  },
  {
    title: 'Seek bar',
    colors: [
      { name: 'trackPlayed', label: 'Played' },
      { name: 'trackUnplayed', label: 'Loaded' },
      { name: 'trackBackground', label: 'Remaining' },
    ],
  },
];

export const switchEntries: readonly {
  readonly name: SwitchName;
  readonly label: string;
  readonly hint: string;
}[] = [
  {
    name: 'enableControls',
    label: 'Show controls',
    hint: 'Without controls, viewers can still click to play and pause.',
  },
  { name: 'hideTitle', label: 'Hide the title', hint: 'Hides the title and its background.' },
  {
    name: 'forceAutoplay',
    label: 'Autoplay',
    hint: 'Starts when the page opens, muted if the browser requires it. Not in this preview.',
  },
  {
    name: 'forceLoop',
    label: 'Loop',
    hint: 'Starts again at the end, whatever the page asks for.',
  },
  {
    name: 'enableApi',
    label: 'Allow control by other sites',
    hint: 'A page that embeds the player can play, pause and seek with messages.',
  },
];

const colorEntries = colorGroups.flatMap(({ colors }) => colors);

export const colorNames: readonly ColorName[] = colorEntries.map(({ name }) => name);

export function draftOf(player: Player): ThemeDraft {
  const { name = '', ...rest } = player;
  const colors = colorNames.map(color => [color, rest[color]] as const);
  const switches = switchEntries.map(entry => [entry.name, rest[entry.name]] as const);
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
  for (const { name: key } of switchEntries) if (draft[key] !== before[key]) changes[key] = draft[key];
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
    ...Object.fromEntries(switchEntries.map(({ name }) => [name, draft[name]])),
    ...(logo === undefined ? {} : { logo: withoutBasePath(logo.src), link: logo.link }),
  };
}

function canonical(text: string): string {
  const color = parseColor(text);
  return color === undefined ? text : formatColor(color);
}
