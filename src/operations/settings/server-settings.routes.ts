import * as z from 'zod';
import type { SessionCaller } from '../../http/routing/caller.ts';
import { defineRoute, jsonBody, type Route } from '../../http/routing/route.ts';
import { AppError } from '../../shared/errors.ts';
import type { ServerSettings } from './server-settings.ts';

const example = {
  name: 'live.reconnectGrace',
  variable: 'MILLRACE_LIVE_RECONNECT_GRACE',
  description:
    'Time for a publisher to reconnect after its connection was lost and continue the same broadcast. After that, the broadcast ends.',
  kind: 'duration, 0 to 1h',
  isList: false,
  isSecret: false,
  applies: 'now',
  origin: 'dashboard',
  isChangeable: true,
  isSet: true,
  value: '30s',
  fallback: '60s',
} as const;

const settingSchema = z
  .object({
    name: z.string(),
    variable: z.string().describe('Environment variable of the setting.'),
    description: z.string(),
    kind: z.string().describe('What a value looks like.'),
    words: z.array(z.string()).optional().describe('The possible values. Absent for free input.'),
    isList: z.boolean().describe('Several of `words`, separated by commas.'),
    isSecret: z.boolean().describe('The server never tells the value.'),
    applies: z.enum(['now', 'restart']).describe('When a change has an effect.'),
    origin: z.enum(['default', 'dashboard', 'file', 'environment', 'flag']).describe('What sets the value.'),
    where: z.string().optional().describe('The file and key, the variable or the flag that sets the value.'),
    isChangeable: z
      .boolean()
      .describe('Applies at once, and is not set by the environment or by a flag, which have precedence.'),
    isSet: z.boolean(),
    value: z.string().optional().describe('As in the settings file. Absent when unset, and for secrets.'),
    fallback: z.string().optional().describe('The default. Absent when there is none.'),
  })
  .meta({ id: 'ServerSetting', examples: [example] });

interface ServerSettingsRoutesOptions {
  readonly settings: ServerSettings;
  readonly isOperator: (accountId: string) => Promise<boolean>;
}

/** Routes for owners of the operator's account, with a session. */
export function serverSettingsRoutes({ settings, isOperator }: ServerSettingsRoutesOptions): Route[] {
  const all = {
    tag: 'Operation',
    auth: 'session',
    scope: 'admin',
    errors: ['authorization-operator-only'],
  } as const;
  const requireOperator = async ({ accountId }: SessionCaller) => {
    if (!(await isOperator(accountId))) throw new AppError('authorization-operator-only');
  };
  return [
    defineRoute({
      ...all,
      method: 'GET',
      path: '/server/settings',
      summary: 'List the settings of the server',
      description:
        'All settings with their values and what sets them. Only for the account of the server operator.',
      success: {
        status: 200,
        description: 'The settings.',
        schema: z
          .object({ settings: z.array(settingSchema) })
          .meta({ id: 'ServerSettings', examples: [{ settings: [example] }] }),
      },
      handle: async ({ caller }) => {
        await requireOperator(caller);
        return { settings: settings.list() };
      },
    }),
    defineRoute({
      ...all,
      method: 'PATCH',
      path: '/server/settings/{setting}',
      summary: 'Change a setting of the server',
      description:
        'Replaces the value of the settings file on all servers of the database, at once. Only for the account of the server operator.',
      params: { setting: 'Name of the setting, such as `live.reconnectGrace`.' },
      find: async ({ params, caller }: { params: { setting: string }; caller: SessionCaller }) => {
        await requireOperator(caller);
        return settings.find(params.setting);
      },
      body: jsonBody(
        z
          .strictObject({
            value: z
              .string()
              .max(1000)
              .nullable()
              .describe('As in the settings file; `null` leaves the setting to the file again.'),
          })
          .meta({ examples: [{ value: '30s' }] }),
      ),
      success: { status: 200, description: 'The changed setting.', schema: settingSchema },
      errors: ['authorization-operator-only', 'setting-not-changeable', 'setting-contradicts-another'],
      handle: async ({ params, body }) => settings.change(params.setting, body.value ?? undefined),
    }),
  ];
}
