import { maxTagChars, maxTags } from '../../../shared/limits/resource-limits.ts';
import { t } from '../texts/shell.ts';

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
      problem = t('tags.tooLong', { tag: tag.slice(0, maxQuotedChars), max: maxTagChars });
    else if (tags.size >= maxTags) problem = t('tags.tooMany', { max: maxTags });
    else {
      tags.add(tag);
      continue;
    }
    rest.push(tag);
  }
  return { tags: tags.size === before.length ? before : [...tags], rest: rest.join(', '), problem };
}
