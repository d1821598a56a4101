import type { JsonObject } from '../../http/openapi/openapi-schemas.ts';
import { errorHtml, errorTableHtml, isErrorCode } from '../pages/docs-content.ts';
import { ReferencePages } from '../reference/reference-pages.ts';
import { guideCallerHtml } from './caller-html.ts';
import type { DocsPage, DocsSection } from './docs-site.ts';
import { type DocsLinks, llmsText, PageShell } from './page-shell.ts';

interface SitePagesOptions {
  readonly version: string;
  readonly links: DocsLinks;
  readonly sections: readonly DocsSection[];
  /** Reads a guide of the build. */
  readonly guide: (name: string) => Promise<DocsPage>;
  readonly document: () => JsonObject;
}

/** All texts of the documentation by their address. Addresses in them begin with `{{base}}` and `{{server}}`. */
export class SitePages {
  readonly #options: SitePagesOptions;
  readonly #shell: PageShell;
  readonly #guides: ReadonlyMap<string, string>;
  #reference: ReferencePages | undefined;

  constructor(options: SitePagesOptions) {
    this.#options = options;
    this.#shell = new PageShell(options);
    this.#guides = new Map(
      options.sections.flatMap(({ pages }) => pages.map(({ name, summary }) => [name, summary])),
    );
  }

  /** Returns a page without a last part `.html`, or a text. @param name address below `/docs/` */
  async find(name: string): Promise<string | undefined> {
    if (name === '')
      return this.#shell.render({ name, title: 'Documentation', html: this.#shell.overview() });
    if (name === 'reference/search.json') return JSON.stringify(this.#ofApi().search());
    if (name === 'reference' || name.startsWith('reference/')) {
      const page = name === 'reference' ? this.#ofApi().overview() : this.#ofApi().find(name);
      return page && this.#shell.render(page);
    }
    if (name === 'errors') return this.#shell.render({ name, title: 'Errors', html: errorTableHtml() });
    const [, code] = /^errors\/([\w-]+)$/.exec(name) ?? [];
    if (code !== undefined) {
      return isErrorCode(code)
        ? this.#shell.render({ name: 'errors', title: code, html: errorHtml(code) })
        : undefined;
    }
    return this.#guide(name);
  }

  notFound(): string {
    const html = `<h1>This page does not exist</h1>
<p>Search above, or go to <a href="{{base}}/docs">the overview</a>.</p>`;
    return this.#shell.render({ name: '404', title: 'Not found', html });
  }

  llms(): string {
    return llmsText(this.#options.sections);
  }

  async #guide(name: string): Promise<string | undefined> {
    const isMarkdown = name.endsWith('.md');
    const guide = isMarkdown ? name.slice(0, -'.md'.length) : name;
    const description = this.#guides.get(guide);
    if (description === undefined) return undefined;
    const page = await this.#options.guide(guide);
    if (isMarkdown) return page.markdown;
    const caller = page.html.includes('class="code') ? guideCallerHtml : '';
    return this.#shell.render({ ...page, html: caller + page.html, description });
  }

  #ofApi(): ReferencePages {
    this.#reference ??= new ReferencePages(this.#options.document());
    return this.#reference;
  }
}
