import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/store/open-database.ts';
import { createDetachedApi } from '../test/support/detached-api.ts';

/** One operation of an OpenAPI document, as far as we look into it. */
export interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly DocumentedParameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: DocumentedContent };
  readonly responses: Readonly<Record<string, DocumentedResponse | { readonly $ref: string }>>;
}

/** A parameter of an operation. */
interface DocumentedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: object;
  readonly example?: unknown;
}

/** An answer of an operation. */
interface DocumentedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: DocumentedContent;
}

/** Bodies by media type. */
export type DocumentedContent = Readonly<
  Record<
    string,
    {
      readonly schema: object;
      readonly example?: unknown;
      readonly examples?: Readonly<Record<string, { readonly value?: unknown; readonly $ref?: string }>>;
    }
  >
>;

/** An OpenAPI document, as far as we look into it. */
export interface ApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly headers: Readonly<Record<string, object>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

/** The OpenAPI document of a server that is made for it and never started. */
export async function buildApiDocument(): Promise<ApiDocument> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-document-'));
  const database = await openDatabase({ dataDir });
  try {
    const api = await createDetachedApi({ database, dataDir });
    return api.document() as unknown as ApiDocument;
  } finally {
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Resolves a reference of the document. */
export function resolveReference(document: ApiDocument, reference: string): unknown {
  return reference
    .slice('#/'.length)
    .split('/')
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
}

/** A response, whether it stands there or is referred to. */
export function responseAt(
  document: ApiDocument,
  response: DocumentedResponse | { readonly $ref: string },
): DocumentedResponse {
  if (!('$ref' in response)) return response;
  return resolveReference(document, response.$ref) as DocumentedResponse;
}

/** Every operation of a document with its method in upper case. */
export function operationsOf(
  document: ApiDocument,
): { method: string; path: string; operation: DocumentedOperation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}
