import * as z from 'zod';
import { defineRoute, type Route } from '../http/routing/route.ts';
import { AppError, type ErrorCode, errorRegister } from '../shared/errors.ts';

const errorDocSchema = z.object({ code: z.string(), title: z.string(), status: z.int() });

export function errorDocRoutes(): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/docs/errors/{code}',
      tag: 'Documentation',
      summary: 'Get the meaning of an error',
      description: 'Browsers, which accept `text/html`, get a page that also explains what to do.',
      auth: 'none',
      params: { code: 'Last part of the `type` of an error.' },
      success: { status: 200, description: 'The error.', schema: errorDocSchema },
      find: ({ params }) => find(params.code),
      handle: ({ found }) => found,
    }),
  ];
}

function find(code: string): z.infer<typeof errorDocSchema> | undefined {
  if (!Object.hasOwn(errorRegister, code)) return undefined;
  const { title } = errorRegister[code as ErrorCode];
  return { code, title, status: new AppError(code as ErrorCode).status };
}
