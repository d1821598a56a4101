/** Tags that a video can have. */
export const maxTags = 100;
/** Characters of a tag. */
export const maxTagChars = 255;

const maxQuotedChars = 20;

/** Tags after some were added. */
export interface AddedTags {
  readonly tags: readonly string[];
  /** The tags that could not be added. */
  readonly rest: string;
  /** Why, where there is a rest. */
  readonly problem: string | undefined;
}

/** Adds the tags of a text, which is taken apart at commas and line ends. Those that are there already are passed over. */
export function addTags(before: readonly string[], text: string): AddedTags {
  const tags = new Set(before);
  const rest: string[] = [];
  let problem: string | undefined;
  for (const part of text.split(/[,\r\n]/)) {
    const tag = part.trim();
    if (tag === '' || tags.has(tag)) continue;
    if (tag.length > maxTagChars)
      problem = `“${tag.slice(0, maxQuotedChars)}…” is longer than ${maxTagChars} characters.`;
    else if (tags.size >= maxTags) problem = `A video can have up to ${maxTags} tags.`;
    else {
      tags.add(tag);
      continue;
    }
    rest.push(tag);
  }
  return { tags: tags.size === before.length ? before : [...tags], rest: rest.join(', '), problem };
}
