const names: Readonly<Record<string, string>> = {
  public: 'visibility',
  listed: 'visibility',
  slug: 'address',
};

/** Names the changed fields of the API as the pages do: `accentColor` is "accent color". */
export function changedText(fields: readonly string[]): string {
  const words = fields.map(
    field => names[field] ?? field.replace(/(?<=[a-z0-9])[A-Z]/g, letter => ` ${letter.toLowerCase()}`),
  );
  return [...new Set(words)].join(', ');
}
