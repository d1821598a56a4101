import { locale } from '../../state/texts.ts';
import { t } from '../../texts/server.ts';

const names: Readonly<Record<string, string>> = {
  public: 'visibility',
  listed: 'visibility',
  slug: 'address',
};

/** Fields that there is a text for. */
const known = [
  'title',
  'name',
  'description',
  'visibility',
  'address',
  'tags',
  'metadata',
  'language',
  'playerId',
  'playbackPolicy',
  'expiresAt',
  'mp4Support',
  'record',
  'restreams',
  'url',
  'events',
  'role',
  'scopes',
  'enabled',
  'accentColor',
  'default',
] as const;

/** Names the changed fields of the API as the pages do: `accentColor` is "accent color". */
export function changedText(fields: readonly string[]): string {
  const words = fields.map(field => wordOf(names[field] ?? field));
  return new Intl.ListFormat(locale(), { type: 'unit' }).format(new Set(words));
}

function wordOf(field: string): string {
  const found = known.find(one => one === field);
  if (found !== undefined) return t(`activity.field.${found}`);
  return field.replace(/(?<=[a-z0-9])[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}
