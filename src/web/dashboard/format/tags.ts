import { maxTagChars, maxTags } from '../../../shared/limits/resource-limits.ts';

const maxQuotedChars = 20;

interface AddedTags {
  readonly tags: readonly string[];
  readonly rest: string;
  readonly problem: string | undefined;
}

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
