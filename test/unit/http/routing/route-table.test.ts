import { describe, expect, it } from 'vitest';
import { defineRoute } from '../../../../src/http/routing/route.ts';
import { RouteTable } from '../../../../src/http/routing/route-table.ts';

function tableOf(...paths: string[]) {
  const served: string[] = [];
  const routes = paths.flatMap(path =>
    (path === '/a/written' ? (['POST'] as const) : (['GET', 'PATCH'] as const)).map(method =>
      defineRoute({
        method,
        path,
        tag: 'Test',
        summary: 'A route',
        auth: 'none',
        success: { status: 204, description: 'Nothing.' },
        handle: () => undefined,
      }),
    ),
  );
  const table = new RouteTable(routes, async (_, route, params) => {
    served.push(`${route.method} ${route.path} ${JSON.stringify(params)}`);
  });
  const ask = async (path: string | null, method = 'GET') => {
    const ctx = { path, method, request: {} } as unknown as Parameters<typeof table.dispatch>[0];
    await table.dispatch(ctx, async () => void served.push('none'));
    return served.pop();
  };
  return { table, ask };
}

describe('the routes of a request', () => {
  const { table, ask } = tableOf(
    '/',
    '/a',
    '/a/{id}',
    '/a/fixed',
    '/a/written',
    '/a/{id}/b',
    '/b/{id}/{name}',
  );

  it.each([
    ['/', 'GET / {}'],
    ['/a', 'GET /a {}'],
    ['/a/1', 'GET /a/{id} {"id":"1"}'],
    ['/a/fixed', 'GET /a/fixed {}'],
    ['/a/x%2Fy', 'GET /a/{id} {"id":"x/y"}'],
    ['/a/1/b', 'GET /a/{id}/b {"id":"1"}'],
    ['/b/1/c', 'GET /b/{id}/{name} {"id":"1","name":"c"}'],
    ['/A', 'none'],
    ['/a/', 'none'],
    ['/a/1/c', 'none'],
    ['/b/1', 'none'],
    ['//a', 'none'],
    [null, 'none'],
  ])('%j: %s', async (path, expected) => {
    expect(await ask(path)).toBe(expected);
  });

  it('put fixed parts first, whatever else is between them', async () => {
    const { ask: askOther } = tableOf('/a/{id}', '/a', '/a/{id}/b', '/b', '/a/fixed');
    expect(await askOther('/a/fixed')).toBe('GET /a/fixed {}');
  });

  it('are not those of another method', async () => {
    expect(await ask('/a', 'DELETE')).toBe('none');
    expect(await ask('/a', 'PATCH')).toBe('PATCH /a {}');
  });

  it('of a fixed path are not those of a parameter in its place', async () => {
    expect(await ask('/a/written', 'POST')).toBe('POST /a/written {}');
    expect(await ask('/a/written')).toBe('none');
    expect(await ask('/a/written', 'PATCH')).toBe('none');
    expect(table.methodsOf('/a/written')).toEqual(['OPTIONS', 'POST']);
    expect(table.errorFor('/a/written')).toMatchObject({ error: { code: 'method-not-allowed' } });
  });

  it('tell which methods a path has', () => {
    expect(table.methodsOf('/a/1')).toEqual(['GET', 'HEAD', 'OPTIONS', 'PATCH']);
    expect(table.methodsOf('/a/1/c')).toEqual([]);
    expect(table.errorFor('/a')).toMatchObject({ error: { code: 'method-not-allowed' } });
    expect(table.errorFor('/c')).toMatchObject({ error: { code: 'unrecognized-request-url' } });
  });
});
