import type { JsonObject } from '../../http/openapi/openapi-schemas.ts';
import { codeHtml, escapeHtml, examplesHtml, inlineHtml, proseHtml } from '../site/html.ts';
import { callExamples } from './call-examples.ts';
import { SchemaPages } from './schema-html.ts';

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** Alternatives, each with the names of its schemes. */
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}

/** An event that the server sends. */
export interface WebhookOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly requestBody: RequestBody;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Examples;
}

type Examples = Readonly<Record<string, { readonly value?: unknown } | { readonly $ref: string }>>;

interface MediaType {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Examples;
}

interface RequestBody {
  readonly description?: string;
  readonly required?: boolean;
  readonly content: Readonly<Record<string, MediaType>>;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string } | { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** Every response has them; the introduction of the API says so. */
const usualHeaders = /^X-(?:RateLimit-|Request-Id)/;
const jsonType = 'application/json';
const formType = 'multipart/form-data';

/** Writes the articles of operations. */
export class OperationPages {
  readonly #schemas: SchemaPages;

  constructor(document: JsonObject) {
    this.#schemas = new SchemaPages(document);
  }

  html(method: string, path: string, operation: Operation): string {
    const { operationId, summary, description = '', parameters = [], requestBody } = operation;
    const credential = credentialOf(operation);
    return `<article class="operation" id="${operationId}" data-method="${method}" data-path="${escapeHtml(path)}" data-credential="${credential}">
<h2>${escapeHtml(summary)}<a class="anchor" href="#${operationId}" aria-label="Link to “${escapeHtml(summary)}”">#</a></h2>
<p class="request"><span class="method ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(path)}</code></p>
${scopeHtml(operation)}
${proseHtml(description.replace(/\n*Needs the scope `\w+`\.$/, ''))}
${this.#parametersHtml(parameters)}
${requestBody === undefined ? '' : this.#bodyHtml(requestBody)}
<h3>Example</h3>
${this.#exampleHtml(method, path, operation)}
<div class="run" hidden></div>
<h3>Responses</h3>
${Object.entries(operation.responses)
  .map(([status, response]) => this.#responseHtml(status, this.#schemas.resolve(response)))
  .join('\n')}
</article>`;
  }

  webhookHtml(type: string, { operationId, summary, requestBody }: WebhookOperation): string {
    return `<article class="operation" id="${operationId}">
<h2><code>${escapeHtml(type)}</code><a class="anchor" href="#${operationId}" aria-label="Link to “${escapeHtml(type)}”">#</a></h2>
<p>${inlineHtml(summary)}</p>
${this.#bodyHtml(requestBody)}
</article>`;
  }

  #parametersHtml(parameters: readonly Parameter[]): string {
    if (parameters.length === 0) return '';
    const items = parameters.map(parameter => {
      const { name, in: place, required = false, description, schema } = parameter;
      const example = this.#exampleOf(parameter);
      const shown =
        example === undefined
          ? ''
          : `<span class="limits">for example <code>${escapeHtml(textOf(example))}</code></span>`;
      const type = (this.#schemas.resolve(schema) as { readonly type?: string }).type ?? '';
      return `<li data-name="${escapeHtml(name)}" data-in="${place}" data-type="${type}"${required ? ' data-required' : ''}><code class="name">${escapeHtml(name)}</code> ${this.#schemas.typeHtml(schema)} <span class="place">${place}</span>${required ? ' <span class="required">required</span>' : ''} ${this.#schemas.limitsHtml(schema)} ${shown}${description === undefined ? '' : `<p>${inlineHtml(description)}</p>`}</li>`;
    });
    return `<h3>Parameters</h3>\n<ul class="fields parameters">${items.join('\n')}</ul>`;
  }

  #bodyHtml({ content, description }: RequestBody): string {
    const bodies = Object.entries(content).map(([type, media]) => {
      const example = type === jsonType ? this.#jsonExample(media) : undefined;
      const attributes = ` data-body="${escapeHtml(type)}"`;
      const shown = example === undefined ? `<div${attributes}></div>` : codeHtml(example, attributes);
      return `<p><code>${escapeHtml(type)}</code></p>\n${this.#schemas.fieldsHtml(media.schema ?? {})}\n${shown}`;
    });
    return `<h3>Body</h3>\n${description === undefined ? '' : proseHtml(description)}${bodies.join('\n')}`;
  }

  #responseHtml(status: string, { description, headers = {}, content = {} }: Response): string {
    const names = Object.entries(headers).filter(([name]) => !usualHeaders.test(name));
    const headerItems = names.map(([name, header]) => {
      const { description: meaning = '' } = this.#schemas.resolve(header);
      return `<li><code class="name">${escapeHtml(name)}</code> <p>${inlineHtml(meaning)}</p></li>`;
    });
    const isError = status >= '4';
    const bodies = Object.entries(content).map(([type, media]) => {
      const errors = isError ? this.#errorsHtml(media) : '';
      if (errors !== '') return errors;
      const example = type === jsonType && !isError ? this.#jsonExample(media) : undefined;
      return `<p><code>${escapeHtml(type)}</code></p>
${media.schema === undefined || isError ? '' : this.#schemas.fieldsHtml(media.schema)}
${example === undefined ? '' : codeHtml(example)}`;
    });
    const detail = [
      ...(headerItems.length === 0 ? [] : [`<ul class="fields">${headerItems.join('')}</ul>`]),
      ...bodies,
    ];
    const line = `<span class="status s${status[0]}">${status}</span> ${inlineHtml(description)}`;
    if (detail.length === 0) return `<p class="response">${line}</p>`;
    return `<details class="response"><summary>${line}</summary>\n${detail.join('\n')}</details>`;
  }

  /** Links to the pages of the errors that a response can have. */
  #errorsHtml({ examples = {} }: MediaType): string {
    const found = new Map<string, string>();
    for (const example of Object.values(examples)) {
      const { value } = this.#schemas.resolve(example) as {
        readonly value?: { type?: string; title?: string };
      };
      const code = value?.type?.split('/').at(-1);
      if (code !== undefined) found.set(code, value?.title ?? '');
    }
    if (found.size === 0) return '';
    const items = [...found].map(
      ([code, title]) =>
        `<li><a href="{{base}}/docs/errors/${escapeHtml(code)}"><code>${escapeHtml(code)}</code></a> ${escapeHtml(title)}</li>`,
    );
    return `<ul class="error-codes">${items.join('\n')}</ul>`;
  }

  #exampleOf({
    example,
    examples = {},
  }: {
    readonly example?: unknown;
    readonly examples?: Examples;
  }): unknown {
    if (example !== undefined) return example;
    const [first] = Object.values(examples);
    return first === undefined ? undefined : (this.#schemas.resolve(first) as { value?: unknown }).value;
  }

  #jsonExample(media: MediaType): string | undefined {
    const example = this.#exampleOf(media) ?? this.#schemas.exampleOf(media.schema ?? {});
    return example === undefined ? undefined : JSON.stringify(example, null, 2);
  }

  #exampleHtml(method: string, path: string, operation: Operation): string {
    const { parameters = [], requestBody } = operation;
    const credential = credentialOf(operation);
    const query = parameters
      .filter(({ in: place, required }) => place === 'query' && required === true)
      .map(({ name }) => `${name}={${variableOf(name)}}`);
    if (credential === 'uploadToken') query.unshift('token={UPLOAD_TOKEN}');
    const address = path.replace(/\{(\w+)\}/g, (_, name: string) => `{${variableOf(name)}}`);
    const [[type, media] = ['', {}]] = Object.entries(requestBody?.content ?? {});
    const codes = callExamples({
      method,
      url: `{{server}}${address}${query.length === 0 ? '' : `?${[...new Set(query)].join('&')}`}`,
      hasKey: credential === 'key',
      json:
        type === jsonType
          ? (this.#exampleOf(media) ?? this.#schemas.exampleOf(media.schema ?? {}))
          : undefined,
      file: type === formType ? fileOf(path) : undefined,
    });
    // The dashboard and players make these.
    if (credential === 'session') return codeHtml(codes.get('sh')!.replace('curl', sessionCurl));
    if (credential === 'none' && requestBody === undefined) return codeHtml(codes.get('sh')!);
    return examplesHtml(new Map([...codes].map(([language, code]) => [language, escapeHtml(code)])));
  }
}

const sessionCurl = 'curl -b "millrace_session=$COOKIE"';

/** A file that the operation of a path receives. */
function fileOf(path: string): string {
  if (/captions|chapters/.test(path)) return 'en.vtt';
  return /thumbnail|watermark|logo/.test(path) ? 'image.jpg' : 'film.mp4';
}

type Credential = 'key' | 'session' | 'uploadToken' | 'none';

function credentialOf({ security }: Operation): Credential {
  const has = (scheme: string) => security.some(alternative => scheme in alternative);
  if (has('apiKey')) return 'key';
  if (has('uploadToken')) return 'uploadToken';
  return has('session') ? 'session' : 'none';
}

/** Tells which scope of a key an operation needs. */
function scopeHtml({ security }: Operation): string {
  const scopes = security.flatMap(({ apiKey }) => (Array.isArray(apiKey) ? (apiKey as string[]) : []));
  if (scopes.length === 0) return '';
  return `<p class="scopes">Scope <a href="{{base}}/docs/teams#scopes"><code>${escapeHtml(scopes.join(' '))}</code></a></p>`;
}

/** `videoId` becomes `VIDEO_ID`. */
function variableOf(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
