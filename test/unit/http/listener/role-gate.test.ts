import { expect, test } from 'vitest';
import { rolesOfPath } from '../../../../src/app/path-roles.ts';
import type { HttpRequest, HttpResponse } from '../../../../src/http/listener/http-listener.ts';
import { RoleGate } from '../../../../src/http/listener/role-gate.ts';
import type { NodeRole } from '../../../../src/shared/node-roles.ts';

const stream = `li${'a'.repeat(22)}`;
const video = `vi${'b'.repeat(22)}`;
const paths = {
  playlist: `/${stream}.m3u8?_HLS_msn=1`,
  livePage: `/live/${stream}`,
  videoPlaylist: `/vod/${video}/hls/manifest.m3u8`,
  report: '/watch',
  whip: '/whip/key',
  api: '/videos?currentPage=2',
  dashboard: '/dashboard/videos',
  docs: '/docs',
  ready: '/health/ready',
  metrics: '/metrics',
};
const always = ['ready', 'metrics'];

test.each<{ roles: NodeRole[]; open: string[] }>([
  { roles: ['worker'], open: [] },
  { roles: ['api'], open: ['api', 'dashboard', 'docs', 'report'] },
  { roles: ['ingest'], open: ['playlist', 'livePage', 'whip'] },
  { roles: ['delivery', 'worker'], open: ['playlist', 'livePage', 'videoPlaylist', 'report'] },
])('a server with the roles $roles answers $open', ({ roles, open }) => {
  const gate = new RoleGate(roles, rolesOfPath, () => 'https://docs.example');
  const answered = Object.entries(paths).filter(([, path]) => gate.isOpen(path));
  expect(answered.map(([name]) => name).sort()).toEqual([...open, ...always].sort());
});

test('a refusal says which roles the server has, and may not be cached', () => {
  const headers = new Map<string, string>();
  let body = '';
  const response = {
    statusCode: 200,
    setHeader: (name: string, value: string) => headers.set(name, value),
    end: (text: string) => {
      body = text;
    },
  };
  const gate = new RoleGate(['worker', 'ingest'], rolesOfPath, () => 'https://docs.example');
  const handle = (url: string) => gate.handle({ url } as HttpRequest, response as unknown as HttpResponse);
  expect(handle(paths.ready)).toBe(false);
  expect(handle(paths.api)).toBe(true);
  expect(response.statusCode).toBe(421);
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(JSON.parse(body)).toEqual({
    type: 'https://docs.example/misdirected-request',
    title: 'Another server handles this request.',
    status: 421,
    detail:
      'This server has the roles worker, ingest. Send the request to another server, or through the load balancer.',
  });
});
