/** Renders the guides for the documentation that a server shows, and for the static site. */
import { readFileSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';
import { createCssVariablesTheme, createHighlighterCoreSync } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import csv from 'shiki/langs/csv.mjs';
import go from 'shiki/langs/go.mjs';
import html from 'shiki/langs/html.mjs';
import javascript from 'shiki/langs/javascript.mjs';
import json from 'shiki/langs/json.mjs';
import nginx from 'shiki/langs/nginx.mjs';
import php from 'shiki/langs/php.mjs';
import python from 'shiki/langs/python.mjs';
import shell from 'shiki/langs/shellscript.mjs';
import type { DocsHeading, DocsPage, DocsSection, SearchEntry } from '../../src/docs/site/docs-site.ts';
import { examplesHtml } from '../../src/docs/site/html.ts';
import { projectRoot, readProjectFile } from '../project-files.ts';

interface BuiltDocs {
  readonly sections: readonly DocsSection[];
  readonly pages: readonly DocsPage[];
  readonly search: readonly SearchEntry[];
  /** Pictures and examples by the names that the pages have for them: `{{file:NAME}}`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

interface Contents {
  readonly title: string;
  readonly pages: readonly {
    readonly file: string;
    readonly name?: string;
    readonly summary: string;
    /** Words that readers search the page with, and it does not have. */
    readonly keywords?: string;
  }[];
}

const languages = [csv, go, html, javascript, json, nginx, php, python, shell];
const languageNames: Readonly<Record<string, string>> = { js: 'javascript', sh: 'shellscript' };
/** Begins the paragraph that names the files with the example before it in other languages. */
const otherLanguages = 'In other languages: ';
const exampleFile = /^docs\/examples\/[\w-]+\.(mjs|py|php|go)$/;
const languageOfEnding: Readonly<Record<string, string>> = { mjs: 'js', py: 'python' };
const minWideColumns = 3;
/** Tests and the code are for people who change the product. */
const notSearched: ReadonlySet<string> = new Set(['api-coverage', 'benchmarks', 'development']);

export function buildDocsPages(): BuiltDocs {
  const contents = JSON.parse(readProjectFile('docs/contents.json')) as readonly Contents[];
  const names = new Map(
    contents.flatMap(({ pages }) => pages.map(({ file, name }) => [file, name ?? basename(file, '.md')])),
  );
  const writer = new GuideWriter(names);
  const guides = new Map([...names].map(([file, name]) => [file, writer.write(file, name)]));
  return {
    sections: contents.map(({ title, pages }) => ({
      title,
      pages: pages.map(({ file, summary }) => {
        const { name, title } = guides.get(file)!.page;
        return { name, title, summary };
      }),
    })),
    pages: [...guides.values()].map(({ page }) => page),
    search: contents.flatMap(({ pages }) =>
      pages.flatMap(({ file, keywords }) => {
        const { page, search } = guides.get(file)!;
        if (notSearched.has(page.name)) return [];
        return search.map((entry, index) =>
          index === 0 && keywords !== undefined ? Object.assign(entry, { keywords }) : entry,
        );
      }),
    ),
    files: writer.files,
  };
}

class GuideWriter {
  readonly files = new Map<string, Uint8Array>();
  readonly #names: ReadonlyMap<string, string>;
  #tables = 0;
  #isInTable = false;
  readonly #markdown = new MarkdownIt({ html: false, linkify: false });
  readonly #highlighter = createHighlighterCoreSync({
    langs: languages,
    themes: [createCssVariablesTheme({ variablePrefix: '--', fontStyle: false })],
    engine: createJavaScriptRegexEngine(),
  });

  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
    const { rules } = this.#markdown.renderer;
    rules.fence = (tokens, index) => this.#codeBlock(tokens[index]!);
    rules.code_block = rules.fence;
    rules.table_open = (tokens, index) => {
      this.#tables += 1;
      this.#isInTable = true;
      const name = labelCells(tokens, index) ? 'table is-wide' : 'table';
      return `<div class="${name}" tabindex="0" role="region" aria-label="Table ${this.#tables}"><table>\n`;
    };
    rules.table_close = () => {
      this.#isInTable = false;
      return '</table></div>\n';
    };
    // Names in cells break behind their words.
    rules.code_inline = (tokens, index) => {
      const code = this.#markdown.utils.escapeHtml(tokens[index]!.content);
      return `<code>${this.#isInTable ? code.replaceAll(/\w[_.](?=\w)|[a-z](?=[A-Z])/g, '$&<wbr>') : code}</code>`;
    };
    // A heading has a text.
    rules.th_open = (tokens, index) => (tokens[index + 1]?.content === '' ? '<td>' : '<th scope="col">');
    rules.th_close = (tokens, index) => (tokens[index - 1]?.content === '' ? '</td>\n' : '</th>\n');
  }

  write(file: string, name: string): { readonly page: DocsPage; readonly search: readonly SearchEntry[] } {
    const markdown = this.#withoutOtherFiles(file);
    const tokens = joinExamples(this.#markdown.parse(markdown, {}), file);
    const [, ...headings] = this.#addAnchors(tokens);
    const title = titleOf(file);
    for (const { children } of tokens) {
      for (const [index, token] of (children ?? []).entries())
        this.#resolve(token, children![index + 1], file);
    }
    const page = {
      name,
      title,
      html: this.#markdown.renderer.render(tokens, this.#markdown.options, {}),
      headings: headings.filter(({ level }) => level <= 3),
      markdown: this.#resolveSource(markdown, file),
    };
    return { page, search: searchEntries(tokens, name, title) };
  }

  /** Reads a page. Of links to files that the documentation does not have, the texts stay. */
  #withoutOtherFiles(file: string): string {
    const isOther = (href: string) => this.#addressOf(href, file) === undefined;
    return readProjectFile(file)
      .split(/(^ *```[\s\S]*?^ *```$)/m)
      .map(part =>
        part.trimStart().startsWith('```')
          ? part
          : part.replaceAll(/(?<!!)\[([^\]]+)\]\(([^)\s]+)\)/g, (link, text: string, href: string) =>
              isOther(href) ? text : link,
            ),
      )
      .join('');
  }

  /** Gives headings the anchors that GitHub gives them. */
  #addAnchors(tokens: readonly Token[]): DocsHeading[] {
    const seen = new Map<string, number>();
    const headings: DocsHeading[] = [];
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'heading_open') continue;
      const inline = tokens[index + 1]!;
      const text = textOf(inline);
      const slug = text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-');
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      const id = count === 0 ? slug : `${slug}-${count}`;
      const level = Number(token.tag.slice(1));
      headings.push({ level, id, text });
      token.attrSet('id', id);
      if (level === 1) continue;
      const link = new (token.constructor as typeof Token)('html_inline', '', 0);
      const label = this.#markdown.utils.escapeHtml(`Link to “${text}”`);
      link.content = `<a class="anchor" href="#${id}" aria-label="${label}">#</a>`;
      inline.children?.push(link);
    }
    return headings;
  }

  #resolve(token: Token, next: Token | undefined, file: string): void {
    if (token.type === 'link_open') {
      const href = String(token.attrGet('href'));
      token.attrSet('href', this.#addressOf(href, file)!);
      // Readers of the pages do not see files.
      if (next !== undefined && /^[\w/-]+\.md$/.test(next.content) && href.split('#')[0]?.endsWith('.md'))
        next.content = titleOf(posix.join(dirname(file), href.split('#', 1)[0]!));
    } else if (token.type === 'image') {
      const source = String(token.attrGet('src'));
      token.attrSet('src', this.#fileOf(source, file));
      const { width, height } = pngSize(this.files.get(basename(source))!);
      token.attrSet('width', String(width));
      token.attrSet('height', String(height));
      token.attrSet('loading', 'lazy');
    }
  }

  #resolveSource(markdown: string, file: string): string {
    return markdown
      .replaceAll(/(!\[[^\]]*\])\(([^)]+)\)/g, (_, text: string, source: string) => {
        return `${text}(${this.#fileOf(source, file)})`;
      })
      .replaceAll(/(?<!!\[[^\]]*)\]\(([^)#:{]+)(#[^)]*)?\)/g, (_, path: string, hash = '') => {
        return `](${this.#addressOf(path, file)}${path.endsWith('.md') ? '.md' : ''}${hash})`;
      });
  }

  /** Returns undefined for a file of the project that the documentation does not have. */
  #addressOf(href: string, file: string): string | undefined {
    if (/^(?:https?:|#)/.test(href)) return href;
    const [path = '', hash] = href.split('#');
    const target = posix.join(dirname(file), path);
    const name = this.#names.get(target);
    if (name !== undefined) return `{{base}}/docs/${name}${hash === undefined ? '' : `#${hash}`}`;
    const isFile = exampleFile.test(target) || /^docs\/.+\.(?:conf|vcl|yaml|cfg)$/.test(target);
    return isFile ? this.#fileOf(path, file) : undefined;
  }

  #fileOf(source: string, file: string): string {
    // Browsers show texts.
    const name = basename(source).replace(/\.(?:mjs|py|php|go)$/, '$&.txt');
    if (!this.files.has(name)) {
      this.files.set(name, readFileSync(join(projectRoot, dirname(file), source)));
    }
    return `{{file:${name}}}`;
  }

  #codeBlock({ info, content, meta }: Token): string {
    const name = info.trim().split(/\s/, 1)[0] ?? '';
    const code = this.#codeHtml(content, name);
    const { examples } = (meta ?? {}) as { readonly examples?: readonly string[] };
    if (examples === undefined)
      return `<div class="code"><pre tabindex="0"><code>${code}</code></pre></div>\n`;
    const others = examples.map(path => {
      const ending = extname(path).slice(1);
      const language = languageOfEnding[ending] ?? ending;
      return [language, this.#codeHtml(readProjectFile(path), language)] as const;
    });
    return `${examplesHtml(new Map([[name, code], ...others]))}\n`;
  }

  #codeHtml(content: string, name: string): string {
    const lang = languageNames[name] ?? name;
    const text = content.replace(/\n$/, '');
    return this.#highlighter.getLoadedLanguages().includes(lang)
      ? this.#highlight(text, lang)
      : this.#markdown.utils.escapeHtml(text);
  }

  /** Writes classes: the policy of the pages allows no inline styles. */
  #highlight(text: string, lang: string): string {
    const { tokens } = this.#highlighter.codeToTokens(text, {
      lang,
      theme: 'css-variables',
      // A busy machine must not write other pages.
      tokenizeTimeLimit: 0,
    });
    const lines = tokens.map(line =>
      line
        .map(({ content, color = '' }) => {
          const escaped = this.#markdown.utils.escapeHtml(content);
          const [, kind] = /^var\(--token-([\w-]+)\)$/.exec(color) ?? [];
          return kind === undefined ? escaped : `<span class="t-${kind}">${escaped}</span>`;
        })
        .join(''),
    );
    return lines.join('\n');
  }
}

/** Gives code blocks the paths of the files that a paragraph behind them names, and leaves the paragraph out. */
function joinExamples(tokens: readonly Token[], file: string): Token[] {
  const kept: Token[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index]!;
    const [paragraph, inline] = tokens.slice(index + 1);
    kept.push(token);
    if (token.type !== 'fence' || paragraph?.type !== 'paragraph_open') continue;
    if (!inline!.content.startsWith(otherLanguages)) continue;
    const examples = inline!
      .children!.filter(({ type }) => type === 'link_open')
      .map(link => posix.join(dirname(file), String(link.attrGet('href'))));
    token.meta = { examples };
    // The paragraph has an opening, a text and an end.
    index += 3;
  }
  return kept;
}

/** Gives the cells of a table that is too wide for phones their headings, which are shown beside them there. Returns true for such a table. */
function labelCells(tokens: readonly Token[], tableIndex: number): boolean {
  const end = tokens.findIndex(({ type }, index) => index > tableIndex && type === 'table_close');
  const inTable = tokens.slice(tableIndex, end);
  const contentsOf = (name: string) => inTable.filter((_, index) => inTable[index - 1]?.type === name);
  const headings = contentsOf('th_open').map(textOf);
  const hasText = contentsOf('td_open').some(cell => textOf(cell) !== '');
  if (headings.length < minWideColumns || !hasText) return false;
  const cells = inTable.filter(({ type }) => type === 'td_open');
  for (const [index, cell] of cells.entries())
    cell.attrSet('data-heading', headings[index % headings.length]!);
  return true;
}

function titleOf(file: string): string {
  return /^# (.+)$/m.exec(readProjectFile(file))?.[1] ?? file;
}

function textOf({ children }: Token): string {
  return (children ?? [])
    .map(({ type, content }) =>
      type === 'softbreak' ? ' ' : /^(?:text|code_inline)$/.test(type) ? content : '',
    )
    .join('');
}

/** Returns an entry for each heading, with the prose below it. */
function searchEntries(tokens: readonly Token[], name: string, title: string): SearchEntry[] {
  const entries: { page: string; title: string; anchor: string; heading: string; text: string }[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const isTitle = token.tag === 'h1';
      entries.push({
        page: name,
        title,
        anchor: isTitle ? '' : String(token.attrGet('id')),
        heading: textOf(tokens[index + 1]!),
        text: '',
      });
    } else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') {
      const entry = entries.at(-1);
      if (entry !== undefined) entry.text = `${entry.text} ${textOf(token)}`.trim();
    }
  }
  return entries;
}

/** Reads width and height from the header of a PNG file. */
function pngSize(file: Uint8Array): { readonly width: number; readonly height: number } {
  const header = new DataView(file.buffer, file.byteOffset);
  return { width: header.getUint32(16), height: header.getUint32(20) };
}
