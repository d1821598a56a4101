export const playerColors = {
  text: 'rgba(255, 255, 255, 1)',
  link: 'rgba(255, 255, 255, 1)',
  linkHover: 'rgba(255, 255, 255, 1)',
  linkActive: 'rgba(255, 255, 255, 1)',
  trackPlayed: 'rgba(88, 131, 255, .95)',
  trackUnplayed: 'rgba(255, 255, 255, .35)',
  trackBackground: 'rgba(255, 255, 255, .2)',
  backgroundTop: 'rgba(0, 0, 0, .7)',
  backgroundBottom: 'rgba(0, 0, 0, .7)',
  backgroundText: 'rgba(255, 255, 255, 1)',
} as const;

export const playerSwitches = {
  enableApi: true,
  enableControls: true,
  forceAutoplay: false,
  hideTitle: false,
  forceLoop: false,
} as const;

export type PlayerColor = keyof typeof playerColors;

type PlayerSwitch = keyof typeof playerSwitches;

/** Colors are `rgba(…)`, as they were sent. */
export type PlayerLook = Readonly<Record<PlayerColor, string> & Record<PlayerSwitch, boolean>>;

export interface PlayerLogo {
  /** Name in the theme's folder. Each upload gets a new one, with the extension of its format. */
  readonly file: string;
  readonly bytes: number;
  readonly link: string | undefined;
}

export interface Player {
  readonly playerId: string;
  readonly projectId: string;
  readonly name: string | undefined;
  readonly look: PlayerLook;
  readonly logo: PlayerLogo | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** `name: null` unsets the name. */
export type PlayerChanges = { readonly name?: string | null | undefined } & {
  readonly [Key in keyof PlayerLook]?: PlayerLook[Key] | undefined;
};

const channel = String.raw`\s*(?:[01]?\d{1,2}|2[0-4]\d|25[0-5])\s*`;
const alpha = String.raw`\s*(?:0?\.\d{1,10}|1\.0{1,10}|[01])\s*`;
export const rgbaPattern = `^[rR][gG][bB][aA]\\(${channel},${channel},${channel},${alpha}\\)$`;
export const maxRgbaChars = 64;

export function applyPlayerChanges(look: PlayerLook, changes: PlayerChanges): PlayerLook {
  const given = Object.entries(changes).filter(
    ([key, value]) => value !== undefined && Object.hasOwn(look, key),
  );
  return { ...look, ...Object.fromEntries(given) };
}
