import { apiTags } from '../openapi/api-tags.ts';
import { referencePageName } from '../reference/page-name.ts';
import type { DocsHeading, DocsSection } from './docs-site.ts';
import { escapeHtml } from './html.ts';

/** Addresses of the files of the pages. */
export interface DocsLinks {
  readonly icon: string;
  readonly styles: string;
  readonly font: string;
  readonly theme: string;
  readonly script: string;
  readonly search: string;
}

interface ShellOptions {
  readonly version: string;
  readonly links: DocsLinks;
  readonly sections: readonly DocsSection[];
}

interface ShownPage {
  /** Address below `/docs/`, empty for the overview. */
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly html: string;
  readonly headings?: readonly DocsHeading[];
}

interface NamedPage {
  readonly name: string;
  readonly title: string;
}

/** The tasks that most readers come for, and where they are described. */
const tasks: readonly (readonly [task: string, page: string])[] = [
  ['Go live from OBS', 'start#go-live'],
  ['Upload a video', 'start#upload-a-video'],
  ['Embed the player', 'embedding'],
  ['Restrict who can watch', 'protecting'],
  ['Verify webhooks', 'webhooks#requests'],
  ['Stream to other platforms', 'broadcasting#restreams'],
  ['Set up HTTPS', 'operating#https'],
  ['Put a CDN in front', 'edges#use-a-cdn'],
  ['Migrate from another service', 'moving'],
  ['Troubleshooting', 'troubleshooting#find-the-symptom'],
];

const referencePages: readonly NamedPage[] = Object.keys(apiTags).map(title => ({
  name: referencePageName(title),
  title,
}));

/** Puts pages into the frame that they share. Addresses begin with `{{base}}`. */
export class PageShell {
  readonly #options: ShellOptions;

  constructor(options: ShellOptions) {
    this.#options = options;
  }

  render(page: ShownPage): string {
    const { version, links } = this.#options;
    const { name, title, description, html, headings = [] } = page;
    const heading = name === '' ? 'Millrace documentation' : `${title} - Millrace`;
    const about =
      description === undefined ? '' : `<meta name="description" content="${escapeHtml(description)}">`;
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(heading)}</title>
${about}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="${links.icon}">
<script src="${links.theme}"></script>
<link rel="preload" as="font" type="font/woff2" href="${links.font}" crossorigin>
<link rel="stylesheet" href="${links.styles}">
<script src="${links.script}" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<button class="icon-button" id="menu" type="button" aria-expanded="false" aria-controls="side" aria-label="Contents" hidden></button>
<a class="brand" href="{{base}}/docs" aria-label="Millrace docs"><img src="${links.icon}" alt="" width="26" height="26"><span>Millrace <small>docs</small></span></a>
<search class="search" id="search" data-guides="${links.search}" data-reference="{{base}}/docs/reference/search.json" data-base="{{base}}/docs/" data-ending="" hidden>
<input type="search" id="query" placeholder="Search" aria-label="Search the documentation" aria-controls="results" autocomplete="off" spellcheck="false">
<div class="results" id="results" hidden><p role="status"></p><ul></ul></div>
</search>
<a class="to-dashboard" href="{{base}}/dashboard">Dashboard</a>
<button class="icon-button" id="theme" type="button" aria-label="Dark mode" aria-pressed="false" hidden></button>
</header>
<div class="layout">
<nav class="side" id="side" aria-label="Documentation">
${this.#sidebar(page)}
<p class="version">Version ${escapeHtml(version)}</p>
</nav>
<main id="content" class="${name === '' ? 'overview' : 'page'}">
${html}
${this.#pager(name)}
</main>
${tableOfContents(headings)}
</div>
</body>
</html>
`;
  }

  overview(): string {
    const cards = this.#options.sections.map(
      ({ title, pages }) => `<section class="card"><h2>${escapeHtml(title)}</h2><ul>
${pages.map(page => `<li><a href="{{base}}/docs/${page.name}">${escapeHtml(page.title)}</a> <span>${escapeHtml(page.summary)}</span></li>`).join('\n')}
${title === 'Reference' ? `<li><a href="{{base}}/docs/reference">API reference</a> <span>Every operation, and a form to try it</span></li>` : ''}
</ul></section>`,
    );
    return `<div class="hero"><h1>Live streams and videos on this server</h1>
<p>Go live from OBS, ffmpeg or a browser, host videos, and drive everything over a REST API.</p>
<p class="actions"><a class="button" href="{{base}}/docs/start">Get started in five minutes</a>
<a class="button quiet" href="{{base}}/docs/reference">API reference</a></p></div>
<ul class="tasks">
${tasks.map(([task, page]) => `<li><a href="{{base}}/docs/${page}">${task}</a></li>`).join('\n')}
</ul>
<div class="cards">
${cards.join('\n')}
</div>`;
  }

  #sidebar({ name, headings = [] }: ShownPage): string {
    const sections = this.#options.sections.map(({ title, pages }) => {
      const links = pages.map(page => {
        const own = page.name === name ? headings.filter(({ level }) => level === 2) : [];
        return `<li>${navLink(page, name)}${subList(own.map(({ id, text }) => `<a href="#${id}">${escapeHtml(text)}</a>`))}</li>`;
      });
      if (title === 'Reference') links.unshift(...this.#referenceLinks(name));
      return `<h2>${escapeHtml(title)}</h2>\n<ul>${links.join('\n')}</ul>`;
    });
    return sections.join('\n');
  }

  #referenceLinks(name: string): string[] {
    const isOpen = name === 'reference' || name.startsWith('reference/');
    const tags = isOpen ? referencePages.map(page => navLink(page, name)) : [];
    return [
      `<li>${navLink({ name: 'reference', title: 'API reference' }, name)}${subList(tags)}</li>`,
      `<li>${navLink({ name: 'errors', title: 'Errors' }, name)}</li>`,
    ];
  }

  #pager(name: string): string {
    const guides = this.#options.sections.flatMap(({ pages }) => pages);
    const pages: readonly NamedPage[] = name.startsWith('reference/') ? referencePages : guides;
    const index = pages.findIndex(page => page.name === name);
    if (index === -1) return '';
    const link = (page: NamedPage | undefined, label: string, rel: string) =>
      page === undefined
        ? '<span></span>'
        : `<a rel="${rel}" href="{{base}}/docs/${page.name}"><small>${label}</small> ${escapeHtml(page.title)}</a>`;
    const source = name.includes('/')
      ? ''
      : `<p class="source"><a href="{{base}}/docs/${name}.md">This page as Markdown</a></p>`;
    return `${source}
<nav class="pager" aria-label="Other pages">
${link(pages[index - 1], 'Previous', 'prev')}
${link(pages[index + 1], 'Next', 'next')}
</nav>`;
  }
}

/** Lists all pages for programs that read text. **Source**: https://llmstxt.org */
export function llmsText(sections: readonly DocsSection[]): string {
  const parts = sections.map(({ title, pages }) => {
    const links = pages.map(page => `- [${page.title}]({{base}}/docs/${page.name}.md): ${page.summary}`);
    return `## ${title}\n\n${links.join('\n')}`;
  });
  return `# Millrace

> A self-hosted server for live streaming and video hosting, driven by a REST API.

The OpenAPI document of the API: {{base}}/openapi.json

${parts.join('\n\n')}
`;
}

function navLink({ name, title }: NamedPage, current: string): string {
  const mark = name === current ? ' aria-current="page"' : '';
  return `<a href="{{base}}/docs/${name}"${mark}>${escapeHtml(title)}</a>`;
}

function subList(links: readonly string[]): string {
  return links.length === 0 ? '' : `<ul>${links.map(link => `<li>${link}</li>`).join('')}</ul>`;
}

function tableOfContents(headings: readonly DocsHeading[]): string {
  if (headings.length < 2) return '';
  const links = headings.map(
    ({ id, level, text }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="toc" aria-label="On this page"><h2>On this page</h2><ul>${links.join('\n')}</ul></nav>`;
}
