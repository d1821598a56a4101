import { z } from 'zod';
import { listQuery, listSchema } from '../../http/routing/pagination.ts';
import { text } from '../../http/routing/text-schema.ts';
import { isRgba, playerColors, playerSwitches } from './player.ts';

const maxNameChars = 100;

const color = (what: string) =>
  z
    .string()
    .refine(isRgba, 'This value should be a colour such as "rgba(255, 255, 255, .35)".')
    .optional()
    .describe(`${what}, as \`rgba(red, green, blue, alpha)\`.`)
    .meta({ examples: ['rgba(255, 255, 255, .35)'] });
const flag = (what: string) => z.boolean().optional().describe(what);
const ignoredAttribute = z
  .unknown()
  .optional()
  .meta({ deprecated: true, description: 'Sent by old clients; ignored.' });

const settable = {
  name: text(maxNameChars).nullish().describe('What you call the theme; null unsets it.'),
  text: color('Colour of the text of the controls'),
  link: color('Colour of the buttons'),
  linkHover: color('Colour of the button that is pointed at'),
  linkActive: color('Colour of the button that is pressed'),
  trackPlayed: color('Colour of what has been played on the bar'),
  trackUnplayed: color('Colour of what is loaded on the bar'),
  trackBackground: color('Colour of the bar'),
  backgroundTop: color('Colour behind the title'),
  backgroundBottom: color('Colour behind the controls'),
  backgroundText: color('Colour of the title'),
  enableApi: flag('Whether the page around may drive the player; true unless given.'),
  enableControls: flag('Whether there are controls; true unless given.'),
  forceAutoplay: flag('Whether it plays by itself whatever its address says; false unless given.'),
  hideTitle: flag('Whether the title is left out; false unless given.'),
  forceLoop: flag('Whether it begins again at the end whatever its address says; false unless given.'),
  shapeMargin: ignoredAttribute,
  shapeRadius: ignoredAttribute,
  shapeAspect: ignoredAttribute,
  shapeBackgroundTop: ignoredAttribute,
  shapeBackgroundBottom: ignoredAttribute,
  language: ignoredAttribute,
};

/** Body of `POST /players`. */
export const playerCreationSchema = z
  .strictObject(settable)
  .meta({ examples: [{ name: 'Night', trackPlayed: 'rgba(88, 131, 255, .95)', hideTitle: true }] });

/** Body of `PATCH /players/{playerId}`. */
export const playerChangesSchema = z
  .strictObject(settable)
  .meta({ examples: [{ backgroundBottom: 'rgba(10, 20, 40, .8)' }] });

/** Query of `GET /players`. */
export const playersQuerySchema = listQuery({}, ['name', 'createdAt', 'updatedAt']);

const colorText = z.string().describe('`rgba(red, green, blue, alpha)`, as it was sent.');

/** A player theme in answers. */
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
      logo: z.string().nullable().describe('Address of the logo; null without one.'),
      link: z.string().nullable().describe('Where a click on the logo leads, exactly as it was sent.'),
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

/** A player theme as the API shows it. */
export type PlayerView = z.input<typeof playerSchema>;

/** A page of player themes. */
export const playerListSchema = listSchema(playerSchema);
