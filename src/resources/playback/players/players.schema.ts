import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { maxRgbaChars, playerColors, playerSwitches, rgbaPattern } from './player.ts';

const maxNameChars = 100;

const color = (what: string) =>
  z
    .string()
    .max(maxRgbaChars)
    .regex(new RegExp(rgbaPattern), 'This value should be a colour such as "rgba(255, 255, 255, .35)".')
    .optional()
    .describe(`${what}, as \`rgba(red, green, blue, alpha)\`.`)
    .meta({ examples: ['rgba(255, 255, 255, .35)'] });
const flag = (what: string) => z.boolean().optional().describe(what);
const ignoredAttribute = z
  .unknown()
  .optional()
  .meta({ deprecated: true, description: 'Sent by old clients; ignored.' });

const settable = {
  name: z.string().max(maxNameChars).nullish().describe('Your name for the theme; null unsets it.'),
  text: color('Color of the text of the controls'),
  link: color('Color of the buttons'),
  linkHover: color('Color of a button under the pointer'),
  linkActive: color('Color of a pressed button'),
  trackPlayed: color('Color of the played part of the progress bar'),
  trackUnplayed: color('Color of the loaded part of the progress bar'),
  trackBackground: color('Color of the progress bar'),
  backgroundTop: color('Color behind the title'),
  backgroundBottom: color('Color behind the controls'),
  backgroundText: color('Color of the title'),
  enableApi: flag('Lets the embedding page control the player. Default: true.'),
  enableControls: flag('Shows the controls. Default: true.'),
  forceAutoplay: flag('Starts playing without a click, whatever the URL says. Default: false.'),
  hideTitle: flag('Hides the title. Default: false.'),
  forceLoop: flag('Restarts at the end, whatever the URL says. Default: false.'),
  shapeMargin: ignoredAttribute,
  shapeRadius: ignoredAttribute,
  shapeAspect: ignoredAttribute,
  shapeBackgroundTop: ignoredAttribute,
  shapeBackgroundBottom: ignoredAttribute,
  language: ignoredAttribute,
};

export const playerCreationSchema = z
  .strictObject(settable)
  .meta({ examples: [{ name: 'Night', trackPlayed: 'rgba(88, 131, 255, .95)', hideTitle: true }] });

export const playerChangesSchema = z
  .strictObject(settable)
  .meta({ examples: [{ backgroundBottom: 'rgba(10, 20, 40, .8)' }] });

export const playersQuerySchema = listQuery({}, ['name', 'createdAt', 'updatedAt']);

const colorText = z.string().describe('`rgba(red, green, blue, alpha)`, as it was sent.');

export const playerSchema = z
  .object({
    playerId: z.string(),
    name: z.string().optional(),
    text: colorText,
    link: colorText,
    linkHover: colorText,
    linkActive: colorText,
    trackPlayed: colorText,
    trackUnplayed: colorText,
    trackBackground: colorText,
    backgroundTop: colorText,
    backgroundBottom: colorText,
    backgroundText: colorText,
    enableApi: z.boolean(),
    enableControls: z.boolean(),
    forceAutoplay: z.boolean(),
    hideTitle: z.boolean(),
    forceLoop: z.boolean(),
    createdAt: z.iso.datetime({ offset: true }),
    updatedAt: z.iso.datetime({ offset: true }),
    assets: z.object({
      logo: z.string().nullable().describe('URL of the logo; null without one.'),
      link: z.string().nullable().describe('The link behind the logo, exactly as it was sent.'),
    }),
  })
  .meta({
    id: 'Player',
    examples: [
      {
        playerId: 'pl7Zx4CvBn2Mq9WeRt5YuIoP',
        name: 'Night',
        ...playerColors,
        ...playerSwitches,
        createdAt: '2026-03-04T05:06:07+00:00',
        updatedAt: '2026-03-04T05:06:07+00:00',
        assets: {
          logo: 'https://media.example.org/player/pl7Zx4CvBn2Mq9WeRt5YuIoP/logo.png',
          link: 'https://brand.example.net',
        },
      },
    ],
  });

export type PlayerView = z.input<typeof playerSchema>;

export const playerListSchema = listSchema(playerSchema);
