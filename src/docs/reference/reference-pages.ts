import type { JsonObject } from '../../http/openapi/openapi-schemas.ts';
import { callerHtml } from '../site/caller-html.ts';
import type { DocsHeading, SearchEntry } from '../site/docs-site.ts';
import { escapeHtml, inlineHtml, proseHtml } from '../site/html.ts';
import { type Operation, OperationPages, type WebhookOperation } from './operation-html.ts';
import { referencePageName } from './page-name.ts';

interface ApiDocument {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks?: Readonly<Record<string, { readonly post: WebhookOperation }>>;
}

interface ReferencePage {
  readonly name: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly DocsHeading[];
}

interface ListedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The pages of the reference, one for each tag of the API document. */
export class ReferencePages {
  readonly #document: ApiDocument;
  readonly #operations: OperationPages;

  constructor(document: JsonObject) {
    this.#document = document as unknown as ApiDocument;
    this.#operations = new OperationPages(document);
  }

  overview(): ReferencePage {
    const groups = this.#document.tags.map(
      ({ name, description }) =>
        `<section><h2><a href="{{base}}/docs/${referencePageName(name)}">${escapeHtml(name)}</a></h2><p>${inlineHtml(description)}</p>
${this.#table(name)}</section>`,
    );
    return {
      name: 'reference',
      title: 'API reference',
      html: `<h1>API reference</h1>
${proseHtml(this.#document.info.description)}
<p>The document that this is written from: <a href="{{base}}/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
${groups.join('\n')}`,
      headings: [],
    };
  }

  /** Returns undefined for an unknown page. */
  find(name: string): ReferencePage | undefined {
    const tag = this.#document.tags.find(one => referencePageName(one.name) === name);
    if (tag === undefined) return undefined;
    const operations = this.#ofTag(tag.name);
    const webhooks = Object.entries(this.#document.webhooks ?? {}).filter(([, { post }]) =>
      post.tags.includes(tag.name),
    );
    const articles = [
      ...operations.map(({ method, path, operation }) => this.#operations.html(method, path, operation)),
      ...webhooks.map(([type, { post }]) => this.#operations.webhookHtml(type, post)),
    ];
    return {
      name,
      title: tag.name,
      html: `<h1>${escapeHtml(tag.name)}</h1>
<p class="lead">${inlineHtml(tag.description)}</p>
${this.#table(tag.name)}
${callerHtml}
${articles.join('\n')}`,
      headings: [
        ...operations.map(({ operation }) => ({
          level: 2,
          id: operation.operationId,
          text: operation.summary,
        })),
        ...webhooks.map(([type, { post }]) => ({ level: 2, id: post.operationId, text: type })),
      ],
    };
  }

  search(): SearchEntry[] {
    return this.#document.tags.flatMap(({ name }) =>
      this.#ofTag(name).map(({ method, path, operation }) => ({
        page: referencePageName(name),
        title: name,
        anchor: operation.operationId,
        heading: `${operation.summary} · ${method} ${path}`,
        text: (operation.description ?? '').replaceAll('`', ''),
      })),
    );
  }

  #ofTag(tag: string): ListedOperation[] {
    return Object.entries(this.#document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, operation]) => operation.tags[0] === tag)
        .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
  }

  #table(tag: string): string {
    const rows = this.#ofTag(tag).map(
      ({ method, path, operation }) =>
        `<li><a href="{{base}}/docs/${referencePageName(tag)}#${operation.operationId}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(path)}</code></a> <span>${escapeHtml(operation.summary)}</span></li>`,
    );
    return `<ul class="operations">${rows.join('\n')}</ul>`;
  }
}
