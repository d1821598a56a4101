import * as z from 'zod';
import { maxChannelDescriptionChars, maxChannelNameChars, maxSlugChars, slugPattern } from './channel.ts';

const enabledText = 'True shows the channel to everybody. Only production has one. Needs `name` and `slug`.';
const slugText =
  'Names the channel in its address, `/channel/{slug}`. Unique on the server. Only production has one.';
const nameText = 'Heading of the channel.';
const descriptionText = 'Plain text below the name.';
const accentText =
  'Color of links and buttons, such as `#0a7a66`. It is made lighter or darker where it would be hard to read.';

export const channelChangesSchema = z
  .strictObject({
    enabled: z.boolean().optional().describe(enabledText),
    slug: z
      .string()
      .min(1)
      .max(maxSlugChars)
      .regex(slugPattern, 'This value can have lower case letters, digits, and single hyphens between them.')
      .nullish()
      .describe(slugText),
    name: z.string().trim().max(maxChannelNameChars).optional().describe(nameText),
    description: z.string().max(maxChannelDescriptionChars).optional().describe(descriptionText),
    accentColor: z
      .string()
      .regex(/^#[0-9A-Fa-f]{6}$/, 'This value should be a color such as "#0a7a66".')
      .toLowerCase()
      .nullish()
      .describe(`${accentText} Null uses that of the product.`),
  })
  .meta({ examples: [{ name: 'Pier TV', description: 'Live from the harbor.', accentColor: '#0a7a66' }] });

export const channelSchema = z
  .object({
    enabled: z.boolean().describe(enabledText),
    slug: z.string().optional().describe(slugText),
    name: z.string().describe(nameText),
    description: z.string().describe(descriptionText),
    accentColor: z.string().optional().describe(accentText),
    logo: z.string().optional().describe('URL of the logo while the channel is on.'),
    hasLogo: z.boolean(),
    url: z.string().optional().describe('URL of the channel while it is on.'),
  })
  .meta({
    id: 'Channel',
    examples: [
      {
        enabled: true,
        slug: 'pier-tv',
        name: 'Pier TV',
        description: 'Live from the harbor.',
        accentColor: '#0a7a66',
        hasLogo: false,
        url: 'https://video.example.com/channel/pier-tv',
      },
    ],
  });

export type ChannelView = z.input<typeof channelSchema>;
