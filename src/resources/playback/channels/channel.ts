import type { ImageRules } from '../../../http/bodies/uploaded-image.ts';

/** Settings of the public page of a project. */
export interface Channel {
  readonly isEnabled: boolean;
  /** Names it in its address; undefined until one is chosen. */
  readonly slug: string | undefined;
  readonly name: string;
  readonly description: string;
  /** A color like `#0a7a66`; undefined for that of the product. */
  readonly accentColor: string | undefined;
  readonly hasLogo: boolean;
  readonly updatedAtMs: number;
}

export interface ChannelChanges {
  readonly enabled?: boolean | undefined;
  readonly slug?: string | null | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly accentColor?: string | null | undefined;
}

export interface ChannelLogo {
  readonly body: Buffer;
  readonly contentType: string;
}

export const slugPattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const maxSlugChars = 64;
export const maxChannelNameChars = 100;
export const maxChannelDescriptionChars = 2_000;

/** The database holds it: it is small, and all servers have it at once. */
export const channelLogo: ImageRules = {
  types: ['image/jpeg', 'image/png'],
  maxBytes: 200 * 1_024,
  maxSidePixels: 1_024,
  wrongTypeTitle: "Only ['jpg', 'JPG', 'jpeg', 'JPEG', 'png', 'PNG'] extensions are supported.",
};

export const newChannel: Channel = {
  isEnabled: false,
  slug: undefined,
  name: '',
  description: '',
  accentColor: undefined,
  hasLogo: false,
  updatedAtMs: 0,
};
