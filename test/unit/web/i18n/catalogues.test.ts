import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CompiledMessage } from 'icu-minify/format';
import { describe, expect, test } from 'vitest';
import { languages } from '../../../../src/web/i18n/languages.ts';

type Messages = Readonly<Record<string, CompiledMessage>>;
type Branches = Readonly<Record<string, unknown>>;

const folder = new URL('../../../../src/web/i18n/', import.meta.url);
const catalogues = readdirSync(folder, { withFileTypes: true })
  .filter(entry => entry.isDirectory())
  .map(({ name }) => name);

const sources = fileURLToPath(new URL('../../', folder));
const code = globSync('{web,delivery,http}/**/*.{ts,tsx}', { cwd: sources })
  .filter(path => !/i18n[/\\][\w-]+[/\\]/.test(path))
  .map(path => readFileSync(join(sources, path), 'utf8'))
  .join('\n');
/** Beginnings of keys whose ends are values, such as `player.refused.`. */
const beginnings = [...code.matchAll(/`([a-z]\w*\.\w[\w.]*\.)\$\{/g)].map(([, beginning]) => beginning!);

async function messagesOf(catalogue: string, language: string): Promise<Messages> {
  const file = new URL(`${catalogue}/${language}.ts`, folder);
  return ((await import(file.href)) as { default: Messages }).default;
}

/** Lists the arguments and tags of a message with their kinds, such as `count: 2`, each once. */
function argumentsOf(message: CompiledMessage): string[] {
  const found = new Set<string>();
  walk(message, ([name, kind]) => {
    // A tag has its content there.
    found.add(`${name}: ${kind === undefined ? 'text' : typeof kind === 'string' ? 'tag' : kind}`);
  });
  return [...found].sort();
}

/** Lists the branches of each plural of a message. */
function pluralsOf(message: CompiledMessage): string[][] {
  const found: string[][] = [];
  walk(message, ([, kind, branches]) => {
    if (kind === 2) found.push(Object.keys(branches ?? {}).filter(name => !name.startsWith('=')));
  });
  return found;
}

function walk(
  message: unknown,
  visit: (node: [name: string, kind: unknown, branches: Branches | undefined]) => void,
): void {
  if (!Array.isArray(message)) return;
  for (const node of message as unknown[]) {
    if (!Array.isArray(node)) continue;
    const [name, kind, branches] = node as [string, unknown, Branches | undefined];
    // The text of a tag follows its name.
    if (kind !== undefined && typeof kind !== 'number') {
      visit([name, 'tag', undefined]);
      walk(node.slice(1), visit);
      continue;
    }
    visit([name, kind, branches]);
    if (typeof branches === 'object') for (const branch of Object.values(branches)) walk(branch, visit);
  }
}

test('catalogues are found', () => {
  expect(catalogues).toContain('player');
});

describe.each(catalogues)('%s', catalogue => {
  test('every language has the same keys, in the order of the English ones', async () => {
    const english = Object.keys(await messagesOf(catalogue, 'en'));
    for (const language of languages)
      expect(Object.keys(await messagesOf(catalogue, language)), language).toEqual(english);
    expect(readdirSync(new URL(catalogue, folder)).sort()).toEqual(
      languages.map(name => `${name}.ts`).sort(),
    );
  });

  test('every message is used', async () => {
    const unused = Object.keys(await messagesOf(catalogue, 'en')).filter(
      key => !code.includes(`'${key}'`) && !beginnings.some(beginning => key.startsWith(beginning)),
    );
    expect(unused).toEqual([]);
  });

  test('no message is empty or has space around it', async () => {
    for (const language of languages) {
      for (const [key, message] of Object.entries(await messagesOf(catalogue, language))) {
        const text = typeof message === 'string' ? message : message.join('.');
        expect(text.trim(), `${language}: ${key}`).not.toBe('');
        expect(text, `${language}: ${key}`).toBe(text.trim());
      }
    }
  });

  test('translations have the arguments of the English message', async () => {
    const english = await messagesOf(catalogue, 'en');
    for (const language of languages) {
      const messages = await messagesOf(catalogue, language);
      for (const [key, message] of Object.entries(messages))
        expect(argumentsOf(message), `${language}: ${key}`).toEqual(argumentsOf(english[key]!));
    }
  });

  test('plurals have a branch for each category of whole numbers in their language', async () => {
    for (const language of languages) {
      const rules = new Intl.PluralRules(language);
      const needed = new Set(Array.from({ length: 200 }, (_, count) => rules.select(count)));
      needed.delete('zero');
      for (const [key, message] of Object.entries(await messagesOf(catalogue, language))) {
        for (const branches of pluralsOf(message))
          expect(branches, `${language}: ${key}`).toEqual(expect.arrayContaining([...needed]));
      }
    }
  });
});
